from __future__ import annotations

from pytest_ragcheck.config.metric_readers import model_and_layer
from pytest_ragcheck.config.readers import model_and_url


def test_a_model_is_split_from_its_layer() -> None:
    assert model_and_layer("roberta-large@17") == ("roberta-large", 17)
    assert model_and_layer("models/roberta") == ("models/roberta", None)


def test_a_model_is_split_from_the_url_of_its_server() -> None:
    assert model_and_url("bge-m3@http://h/v1?user=a@b") == ("bge-m3", "http://h/v1?user=a@b")
    assert model_and_url("@cf/baai/bge-m3@https://h/v1") == ("@cf/baai/bge-m3", "https://h/v1")
    assert model_and_url("gecko@001") == ("gecko@001", None)
