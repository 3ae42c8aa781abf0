package lib.pipeline_test

import data.lib.pipeline
import rego.v1

stages := [{"refId": "1", "type": "wait", "name": "Soak"}]

test_reads_the_new_wrapper if {
	pipeline.stages == stages with input as {"new": {"stages": stages}, "current": {"stages": []}}
}

test_reads_the_pipeline_wrapper if {
	pipeline.stages == stages with input as {"pipeline": {"stages": stages}}
	pipeline.stages == stages with input as {"new": null, "pipeline": {"stages": stages}}
}

test_reads_a_bare_definition if {
	pipeline.stages == stages with input as {"name": "rollout", "stages": stages}
}

test_an_application_is_no_pipeline if {
	not pipeline.document with input as {"app": {"name": "shop"}, "stages": stages}
}

test_a_runtime_body_is_no_pipeline if {
	not pipeline.document with input as {"executionId": "01J0", "stages": stages}
	not pipeline.document with input as {"payloadConstraint": [], "stages": stages}
}

test_nothing_is_read_from_an_empty_input if {
	pipeline.stages == [] with input as {}
	not pipeline.name with input as {}
}

test_absent_null_and_odd_stages_are_no_stages if {
	pipeline.stages == [] with input as {"new": {"name": "rollout"}}
	pipeline.stages == [] with input as {"new": {"stages": null}}
	pipeline.stages == [] with input as {"new": {"stages": [null, "1"]}}
}

removed := array.concat(stages, [{"refId": "2", "type": "wait", "stageStatus": "deleted"}])

test_a_stage_that_the_save_task_calls_deleted_is_left_out if {
	pipeline.stages == stages with input as {"pipeline": {"id": "7c1e", "user": {"name": "ana"}, "stages": removed}}
}

test_a_stage_that_its_author_calls_deleted_is_read if {
	every document in [{}, {"id": "7c1e"}, {"user": {"name": "ana"}}] {
		pipeline.stages == removed with input as {"pipeline": object.union(document, {"stages": removed})}
	}
	saved := {"id": "7c1e", "user": {"name": "ana"}, "stages": removed}
	pipeline.stages == removed with input as {"new": saved}
	pipeline.stages == removed with input as {"new": saved, "pipeline": saved}
}

test_a_pipeline_without_a_name_says_so if {
	pipeline.name == "without a name" with input as {"new": {"stages": []}}
	pipeline.name == "without a name" with input as {"new": {"name": 7}}
	pipeline.name == "rollout" with input as {"new": {"name": "rollout"}}
}

test_a_stage_is_labelled_by_its_name if {
	pipeline.label({"name": "Soak", "refId": "1"}) == "stage 'Soak'"
}

test_a_stage_without_a_name_is_labelled_by_reference_and_type if {
	pipeline.label({"refId": 3, "type": "wait"}) == "stage 3 (wait, no name)"
	pipeline.label({"name": " "}) == "stage without refId (no type, no name)"
	pipeline.label({"name": 7, "refId": null, "type": true}) == "stage null (true, no name)"
}

test_references_may_be_numbers_or_absent if {
	pipeline.requisites({"requisiteStageRefIds": [1, "2"]}) == ["1", "2"]
	pipeline.requisites({"requisiteStageRefIds": null}) == []
	pipeline.requisites({"requisiteStageRefIds": "1"}) == ["1"]
	pipeline.requisites({}) == []
}

test_expected_artifacts_may_lie_under_any_map if {
	pipeline.expected_artifacts == ["a"] with input as {"new": {"expectedArtifacts": ["a"]}}
	pipeline.expected_artifacts == ["a"] with input as {"new": {"anyMap": {"expectedArtifacts": ["a"]}}}
	pipeline.expected_artifacts == [] with input as {"new": {}}
}

test_expressions_are_recognised_in_text_only if {
	pipeline.is_expression("a-${parameters.b}")
	not pipeline.is_expression("$a {b}")
	not pipeline.is_expression(["${parameters.b}"])
}

test_whole_numbers_are_read_from_text if {
	pipeline.whole_number(" 30 ") == 30
	pipeline.whole_number("007") == 7
	pipeline.whole_number("00") == 0
	every text in ["", " ", "1h", "-5", "1.5", "1 2", 5] { not pipeline.whole_number(text) }
}
