package bench.pipeline

import rego.v1

deny contains message if {
	some stage in input.new.stages
	stage.type == "wait"
	to_number(stage.waitTime) > 3600
	message := sprintf("stage '%s' waits longer than an hour", [stage.name])
}

deny contains message if {
	some stage in input.new.stages
	stage.type == "deployManifest"
	not known_account[stage.account]
	message := sprintf("stage '%s' deploys to the unknown account %s", [stage.name, stage.account])
}

known_account contains account if some account in data.accounts
