# METADATA
# title: Are the settings complete?
# description: A policy whose limit is missing would allow everything in silence; it refuses and says so instead.
package lib.settings

import data.lib.pipeline
import rego.v1

required := [
	{"path": ["production", "accounts"], "type": "array"},
	{"path": ["production", "deploy_stage_types"], "type": "array"},
	{"path": ["waiting", "max_seconds"], "type": "number"},
	{"path": ["waiting", "allow_expressions"], "type": "boolean"},
	{"path": ["images", "trusted"], "type": "array"},
	{"path": ["roles", "production_pipeline"], "type": "array"},
	{"path": ["roles", "application_write"], "type": "array"},
	{"path": ["load_balancers", "internal_annotations"], "type": "object"},
	{"path": ["load_balancers", "public_annotations"], "type": "object"},
	{"path": ["load_balancers", "public_applications"], "type": "array"},
	{"path": ["blackouts"], "type": "array"},
]

# Grouped by the first part of the path, so that a policy checks only the settings that it reads.
problems[section] contains text if {
	some setting in required
	section := setting.path[0]
	not is_given(setting)
	text := sprintf("policy setting settings.%s must be given, as %s", [concat(".", setting.path), setting.type])
}

is_given(setting) if type_name(pipeline.get(data.settings, setting.path, null)) == setting.type
