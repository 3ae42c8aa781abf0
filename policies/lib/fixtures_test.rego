# Settings of the tests' own, so that a user who edits data.json does not break them.
package lib.fixtures

import rego.v1

settings := {
	"production": {"accounts": ["prod-*"], "deploy_stage_types": ["deploy", "deployManifest"]},
	"waiting": {"max_seconds": 3600, "allow_expressions": false},
	"images": {"trusted": ["registry.test", "ghcr.test/team", "docker.io/library", "docker.io/one/app"]},
	"roles": {"production_pipeline": ["sre", "releasers"], "application_write": ["sre"]},
	"load_balancers": {
		"public_applications": ["edge"],
		"internal_annotations": {"cloud.test/internal": ["true"]},
		"public_annotations": {"cloud.test/scheme": ["internet-facing"]},
	},
	"blackouts": [],
}

settings_without_limit := json.remove(settings, ["waiting/max_seconds"])

new_with(stages) := {"new": {"application": "shop", "name": "rollout", "stages": stages}}

# A deployManifest stage that runs one container.
running_image(image) := {
	"type": "deployManifest",
	"name": "Deploy",
	"refId": "1",
	"manifests": [{"kind": "Deployment", "spec": {"template": {"spec": {"containers": [{"image": image}]}}}}],
}
