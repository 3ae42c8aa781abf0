package app.child

import rego.v1

name := "child"

deny contains sprintf("no %s", [thing]) if some thing in input.things

count_of_things := count(input.things)
