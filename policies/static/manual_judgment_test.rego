package static.manual_judgment_test

import data.lib.fixtures
import data.static.manual_judgment
import rego.v1

reasons(stages) := denied if {
	denied := manual_judgment.deny with input as fixtures.new_with(stages) with data.settings as fixtures.settings
}

judgment := {"refId": "1", "type": "manualJudgment", "name": "Approve"}

soak(requisites) := {"refId": "2", "requisiteStageRefIds": requisites, "type": "wait", "name": "Soak"}

deploy(requisites) := {
	"refId": "3",
	"requisiteStageRefIds": requisites,
	"type": "deployManifest",
	"name": "Deploy",
	"account": "prod-eu",
}

unjudged := {"stage 'Deploy' deploys to production account 'prod-eu' without a manual judgment before it; make it depend on one"}

unbound := {concat("", [
	"stage 'Deploy' deploys to production account 'prod-eu' without a manual judgment before it; ",
	"make it depend on one that always runs and that stops the pipeline when refused",
])}

test_a_deploy_right_after_a_judgment_is_allowed if reasons([judgment, deploy(["1"])]) == set()

test_the_gates_of_the_plugins_are_judgments if {
	every type in ["approval", "verification"] {
		gate := object.union(judgment, {"type": type})
		reasons([gate, deploy(["1"])]) == set()
		reasons([object.union(gate, {"continuePipeline": true, "failPipeline": false}), deploy(["1"])]) == unbound
		reasons([object.union(gate, {"stageEnabled": {"type": "expression", "expression": "false"}}), deploy(["1"])]) == unbound
	}
	every type in ["policy", "testverification", "wait"] {
		reasons([object.union(judgment, {"type": type}), deploy(["1"])]) == unjudged
	}
}

test_a_deploy_further_down_is_allowed if reasons([deploy(["2"]), soak(["1"]), judgment]) == set()

test_one_judged_branch_is_enough_because_a_stage_waits_for_all if {
	reasons([judgment, soak([]), deploy(["1", "2"])]) == set()
}

test_a_deploy_without_any_judgment_is_denied if reasons([soak([]), deploy(["2"])]) == unjudged

test_a_judgment_beside_or_after_the_deploy_does_not_count if {
	reasons([judgment, soak([]), deploy(["2"])]) == unjudged
	reasons([deploy([]), object.union(judgment, {"requisiteStageRefIds": ["3"]})]) == unjudged
}

test_a_deploy_elsewhere_needs_no_judgment if {
	reasons([object.union(deploy([]), {"account": "staging"})]) == set()
}

test_references_may_be_numbers if {
	reasons([object.union(judgment, {"refId": 1}), object.union(deploy([1]), {"refId": 3})]) == set()
}

test_a_cycle_is_walked_once if {
	reasons([soak(["3"]), deploy(["2"])]) == unjudged
	reasons([judgment, soak(["3", "1"]), deploy(["2"])]) == set()
}

test_a_judgment_without_effect_does_not_count if {
	every effect in [
		{"stageEnabled": {"type": "expression", "expression": "false"}},
		{"continuePipeline": true, "failPipeline": false},
		{"continuePipeline": "true"},
		{"continuePipeline": "${parameters.hurry}"},
		{"stageEnabled": {"type": "Expression", "expression": "false"}},
		{"stageEnabled": "${parameters.condition}"},
		{"stageEnabled": {"type": "${'expression'}", "expression": "false"}},
		{"judgmentStatus": "continue"},
		{"judgmentStatus": "${parameters.judgment}"},
		{"manualSkip": true},
		{"stageTimeoutMs": 1000, "markSuccessfulOnTimeout": true},
	] {
		reasons([object.union(judgment, effect), deploy(["1"])]) == unbound
	}
}

test_a_judgment_that_stops_only_its_branch_counts if {
	reasons([object.union(judgment, {"continuePipeline": false, "failPipeline": false}), deploy(["1"])]) == set()
}

test_what_a_form_writes_without_effect_leaves_a_judgment_binding if {
	every form in [
		{"stageEnabled": null},
		{"stageEnabled": {}},
		{"judgmentStatus": ""},
		{"judgmentStatus": null, "manualSkip": false},
		{"markSuccessfulOnTimeout": "false"},
		{"stageTimeoutMs": 1000},
	] {
		reasons([object.union(judgment, form), deploy(["1"])]) == set()
	}
}

test_a_judgment_that_this_save_removes_does_not_count if {
	removed := object.union(judgment, {"stageStatus": "deleted"})
	saved := {"pipeline": {"id": "7c1e", "user": {"name": "ana"}, "stages": [removed, deploy(["1"])]}}
	manual_judgment.deny == unjudged with input as saved with data.settings as fixtures.settings
}

test_a_deploy_whose_author_calls_it_deleted_is_a_deploy if {
	reasons([object.union(deploy([]), {"stageStatus": "deleted"})]) == unjudged
}

test_a_deploy_does_not_count_as_its_own_judgment if {
	reasons([judgment, object.union(deploy([]), {"refId": "1"})]) == unjudged
	reasons([object.remove(judgment, ["refId"]), object.remove(deploy([]), ["refId"])]) == unjudged
}

test_a_deploy_does_not_share_the_judgment_of_another_stage_with_its_reference if {
	twin := object.union(soak(["1"]), {"refId": "3"})
	reasons([judgment, twin, deploy([])]) == unjudged
	reasons([judgment, twin, deploy(["1"])]) == set()
}

test_a_deploy_that_waits_for_all_stages_of_a_reference_waits_for_the_judgment_among_them if {
	reasons([judgment, object.union(soak([]), {"refId": "1"}), deploy(["1"])]) == set()
}

test_other_inputs_are_not_refused if manual_judgment.deny == set() with input as {"app": {"name": "shop"}}

test_a_judgment_whose_alias_runs_something_else_does_not_count if {
	denied := manual_judgment.deny with input as fixtures.new_with([
		{"refId": "1", "type": "manualJudgment", "alias": "wait", "name": "Judge"},
		{"refId": "2", "requisiteStageRefIds": ["1"], "type": "deploy", "name": "Deploy", "account": "prod-eu"},
	])
		with data.settings as fixtures.settings
	count(denied) == 1
}
