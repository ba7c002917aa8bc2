"""What the generators ask of their arguments."""

TASKS = ["classification", "regression"]


def check_sizes(**sizes: int) -> None:
    for name, value in sizes.items():
        if int(value) != value or value < 1:
            raise ValueError(f"`{name}` must be a positive integer; got {value!r}.")


def check_positive(**values: float) -> None:
    for name, value in values.items():
        if not value > 0:
            raise ValueError(f"`{name}` must be positive; got {value!r}.")
