package conflicts.old

complete = 1 { input.x }
complete = 2 { input.y }

f(x) = 1 { x }
f(x) = 2 { x }
called = f(input.x)

m[k] = v { k := "k"; v := input.list[_] }
