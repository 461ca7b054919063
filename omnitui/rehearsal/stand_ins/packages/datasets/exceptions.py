"""Stand-in for datasets.exceptions."""


class DatasetNotFoundError(FileNotFoundError):
    """What a data set raises that is not there, or is private and may not be read."""
