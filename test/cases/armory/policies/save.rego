package opa.pipelines

# In Rego v0, as in Armory's documentation.
deny["Every pipeline needs a manual judgment: stage 'Steep' has none before it"] {
	not has_judgment
}

has_judgment {
	input.pipeline.stages[_].type == "manualJudgment"
}

# A sibling rule next to deny.
stages[type] {
	type := input.pipeline.stages[_].type
}
