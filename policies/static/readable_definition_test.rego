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

test_manifests_that_cannot_be_read_are_refused if {
	pod := {"kind": "Pod", "spec": {"containers": [{"image": "a"}]}}
	every manifests in [
		"${parameters.manifests}",
		["${parameters.manifest}"],
		"kind: Pod\n---\nkind: Service",
		[[[[pod]]]],
		[object.union(pod, {"kind": "${parameters.kind}"})],
		[object.union(pod, {"kind": ["Pod"]})],
		[{"kind": "Pod", "spec": "${parameters.spec}"}],
		[{"kind": "Pod", "spec": {"containers": "${parameters.containers}"}}],
		[{"kind": "Pod", "spec": {"containers": ["${parameters.container}"]}}],
		[{"kind": "Pod", "spec": {"${'containers'}": []}}],
		[{"kind": "List", "items": "${parameters.items}"}],
		[{"op": "replace", "path": "/spec/template", "value": "${parameters.template}"}],
		[{"op": "replace", "path": "/spec", "value": {"containers": "${parameters.containers}"}}],
		{"0": {"kind": "ConfigMap"}, "1": {"kind": "Deployment"}},
	] {
		every key in ["manifests", "manifest", "patchBody"] {
			count(reasons([object.union(deploy, {key: manifests})])) == 1
		}
	}
}

test_manifests_with_expressions_elsewhere_are_read if {
	every manifest in [
		{"kind": "Deployment", "spec": {"replicas": "${parameters.count}", "template": {"spec": {"containers": [{"image": "a:${trigger['tag']}"}]}}}},
		{"op": "replace", "path": "/spec/replicas", "value": "${parameters.count}"},
		{"kind": "ConfigMap", "data": {"a": "${parameters.a}"}},
		null,
		"",
	] {
		reasons([object.union(deploy, {"manifests": [manifest]})]) == set()
	}
}

test_expressions_for_the_type_the_alias_or_the_name_of_a_member_are_refused if {
	every member in [{"type": "${parameters.type}"}, {"alias": "${parameters.type}"}, {"${'account'}": "prod-eu"}] {
		count(reasons([object.union(deploy, member)])) == 1
	}
}

test_stages_elsewhere_are_refused if {
	every member in [
		{"config": {"stages": {"0": deploy}}},
		{"config": {"stages": ["deploy"]}},
		{"config": {"partials": [{"id": "a"}]}},
		{"config": {"modules": [{"id": "a"}]}},
		{"config": {"configuration": {"triggers": [{"type": "git"}]}}},
		{"config": {"configuration": {"expectedArtifacts": [{"id": "a"}]}}},
		{"config": {"stages": [{"id": "a", "type": "wait", "inject": {"first": true}}]}},
		{"pipeline": {"stages": [deploy]}},
		{"template": {"stages": [deploy]}},
	] {
		count(readable_definition.deny) == 1 with input as {"new": object.union({"name": "rollout"}, member)}
	}
}

test_a_managed_delivery_config_is_refused if {
	config := {"name": "shop", "application": "shop", "environments": [{"name": "prod", "resources": []}]}
	every body in [config, {"new": config}, {"pipeline": config}, {"deliveryConfig": config}] {
		readable_definition.deny == {"a managed delivery config cannot be read; only pipelines are judged"} with input as body
	}
}
