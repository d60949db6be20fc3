"""Each module here reads the exports of one evaluation tool, or of one benchmark's form, as `Question`s."""
