def write():
    pass
