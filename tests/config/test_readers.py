from __future__ import annotations

from pytest_ragcheck.config.readers import model_and_layer, read_model


def test_a_model_is_split_from_its_layer() -> None:
    assert model_and_layer(read_model("roberta-large@17")) == ("roberta-large", 17)
    assert model_and_layer(read_model("models/roberta")) == ("models/roberta", None)
