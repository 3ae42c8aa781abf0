package static.wait

import rego.v1

deny contains sprintf("stage %v waits for over an hour", [stage.name]) if {
	some stage in input.pipeline.stages
	stage.type == "wait"
	stage.waitTime > 3600
}
