package lib.manifest_test

import data.lib.manifest
import rego.v1

pod := {
	"containers": [{"image": "a"}, {"name": "without image"}],
	"initContainers": [{"image": "b"}],
	"ephemeralContainers": [{"image": "c"}],
	"volumes": [{"name": "no container", "image": "d"}],
}

test_finds_the_images_of_every_kind_that_holds_a_pod if {
	every document in [
		{"kind": "Pod", "spec": pod},
		{"kind": "Deployment", "spec": {"template": {"spec": pod}}},
		{"kind": "CronJob", "spec": {"jobTemplate": {"spec": {"template": {"spec": pod}}}}},
		{"kind": "PodTemplate", "template": {"spec": pod}},
	] {
		manifest.images(document) == {"a", "b", "c"}
	}
}

test_other_kinds_have_no_images if manifest.images({"kind": "ConfigMap", "data": {"image": "a"}}) == set()

test_finds_the_image_that_a_json_patch_sets if {
	manifest.images({"op": "replace", "path": "/spec/containers/0/image", "value": "a"}) == {"a"}
	manifest.images({"op": "replace", "path": "/spec/replicas", "value": "2"}) == set()
	manifest.images({"op": "replace", "path": "/image", "value": 2}) == set()
}

test_finds_the_images_in_what_a_json_patch_sets if {
	every value in [{"image": "a"}, [{"name": "web", "image": "a"}], {"template": {"spec": {"initContainers": [{"image": "a"}]}}}] {
		manifest.images({"op": "add", "path": "/spec/template/spec/containers/-", "value": value}) == {"a"}
	}
	manifest.images({"op": "remove", "path": "/spec/template"}) == set()
	manifest.images({"kind": "Custom", "value": {"image": "a"}}) == set()
}

test_lists_manifests_from_every_key_of_a_stage if {
	manifest.manifests({"manifests": [{"a": 1}], "manifest": {"b": 1}, "patchBody": {"c": 1}}) == [{"a": 1}, {"b": 1}, {"c": 1}]
	manifest.manifests({"manifests": null, "manifest": "text"}) == []
}

test_opens_lists if {
	manifest.manifests({"manifests": [{"kind": "List", "items": [{"a": 1}, {"b": 1}]}]}) == [{"a": 1}, {"b": 1}]
	every document in [{"kind": "List"}, {"kind": "List", "items": null}, {"kind": "Menu", "items": [{"a": 1}]}] {
		manifest.manifests({"manifests": [document]}) == [document]
	}
}

test_labels_a_manifest_by_kind_and_name if {
	manifest.label({"kind": "Service", "metadata": {"name": "web"}}) == "Service 'web'"
	manifest.label({}) == "manifest 'without a name'"
}

test_annotations_compare_in_lower_case_text if {
	manifest.annotation({"metadata": {"annotations": {"x": "True"}}}, "x") == "true"
	manifest.annotation({"metadata": {"annotations": {"x": true}}}, "x") == "true"
	not manifest.annotation({}, "x")
}
