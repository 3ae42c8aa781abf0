/**
 * A static policy that is cheap, unless the input has a `size`: then its loops are too many to end,
 * and take no more memory the longer they run, as comparisons other than equality would.
 */
export const ENDLESS_POLICY = `package static.q

import rego.v1

deny contains "blocked" if input.block

deny contains "endless" if {
	all := numbers.range(1, input.size)
	some a in all
	some b in all
	a == b
	a == -1
}
`
