package spinnaker.execution.stages.before.bake

deny[msg] {
	not input.stage.context.region == "north"
	msg := sprintf("bake in north, not in %v", [input.stage.context.region])
}
