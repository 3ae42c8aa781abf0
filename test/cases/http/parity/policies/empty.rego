package empty.nothing
