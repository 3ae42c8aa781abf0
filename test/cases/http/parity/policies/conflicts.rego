package conflicts

import rego.v1

complete := 1 if input.x

complete := 2 if input.y

partial[key] := value if some key, value in {"a": input.x}

partial[key] := value if some key, value in {"a": input.y}

twice(x) := 1 if x > 0

twice(x) := 2 if x > 1

by_function := twice(input.n)

with_else := 1 if {
	input.a
} else := 2 if input.b
