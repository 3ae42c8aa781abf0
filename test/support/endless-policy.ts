/** A static policy that is cheap, unless the input has a `size`: then its loops are too many to end. */
export const ENDLESS_POLICY = `package static.q

import rego.v1

deny contains "blocked" if input.block

deny contains "endless" if {
	some a in numbers.range(1, input.size)
	some b in numbers.range(1, input.size)
	a + b == -1
}
`
