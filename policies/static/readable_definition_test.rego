package static.readable_definition_test

import data.lib.fixtures
import data.static.readable_definition
import rego.v1

reasons(stages) := denied if {
	denied := readable_definition.deny with input as fixtures.new_with(stages)
}

deploy := {"refId": "1", "type": "deploy", "name": "Deploy", "account": "prod-eu"}

unread := {"the input has stages that nobody reads; send the pipeline as input.new"}

test_a_list_of_objects_is_read if {
	reasons([deploy]) == set()
	reasons([]) == set()
	reasons([object.union(deploy, {"account": null, "credentials": 5, "clusters": [{"account": "prod-eu"}, {}]})]) == set()
}

test_a_pipeline_without_stages_is_read if {
	reasons(null) == set()
	readable_definition.deny == set() with input as {"new": {"name": "rollout"}}
	readable_definition.deny == set() with input as {"new": null, "pipeline": {"name": "rollout"}}
}

test_other_inputs_are_not_refused if {
	readable_definition.deny == set() with input as {}
	readable_definition.deny == set() with input as {"app": {"name": "shop"}}
	readable_definition.deny == set() with input as {"executionId": "01J0"}
	readable_definition.deny == set() with input as {"new": {"application": "shop", "permissions": {"WRITE": []}}}
	readable_definition.deny == set() with input as {"name": "rollout", "stages": [deploy]}
}

test_stages_that_are_no_list_are_refused if {
	every stages in [{"0": deploy}, deploy, json.marshal([deploy]), 5, true, false] {
		"the stages of pipeline 'rollout' cannot be read; write a list of objects" in reasons(stages)
	}
}

test_members_of_the_list_that_are_no_objects_are_refused if {
	reasons([deploy, null, [deploy], "1"]) == {
		"stage 2 of the list cannot be read; write an object",
		"stage 3 of the list cannot be read; write an object",
		"stage 4 of the list cannot be read; write an object",
	}
}

test_a_wrapper_that_is_no_object_is_refused if {
	every value in [[{"stages": [deploy]}], json.marshal({"stages": [deploy]}), false, 0] {
		readable_definition.deny == {"input.new cannot be read; send a pipeline there, as an object"} with input as {"new": value}
		readable_definition.deny == {"input.pipeline cannot be read; send a pipeline there, as an object"} with input as {"pipeline": value}
	}
}

test_stages_of_the_input_that_nobody_reads_are_refused if {
	every other in [{"new": {}}, {"pipeline": {}}, {"app": {}}, {"executionId": "01J0"}, {"payloadConstraint": []}] {
		readable_definition.deny == unread with input as object.union({"stages": [deploy]}, other)
	}
	readable_definition.deny == unread with input as {"stages": {"0": deploy}}
}

test_members_that_decide_are_texts if {
	reasons([object.union(deploy, {"type": ["deploy"]})]) == {"stage 'Deploy' has a member 'type' that cannot be read; write it as: string"}
	every key in ["account", "credentials"] {
		reasons([object.union(deploy, {key: ["prod-eu"]})]) == {sprintf(
			"stage 'Deploy' has a member '%s' that cannot be read; write it as: string or number",
			[key],
		)}
	}
}

test_clusters_are_a_list_of_objects_with_accounts_as_texts if {
	reasons([object.union(deploy, {"clusters": {"0": deploy}})]) == {"stage 'Deploy' has a member 'clusters' that cannot be read; write it as: array"}
	every clusters in [[[deploy]], [null], ["prod-eu"], [{"account": ["prod-eu"]}], [{"credentials": {"name": "prod-eu"}}]] {
		reasons([object.union(deploy, {"clusters": clusters})]) == {"stage 'Deploy' has a cluster that cannot be read; write an object whose account is a text"}
	}
}
