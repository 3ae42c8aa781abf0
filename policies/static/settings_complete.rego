# METADATA
# title: Settings are complete
# description: A forgotten or mistyped setting must be found at the next save, not after the incident it should prevent.
package static.settings_complete

import data.lib.pipeline
import data.lib.settings
import rego.v1

deny contains text if {
	pipeline.document
	some section in ["production", "waiting", "images", "roles", "load_balancers"]
	some text in settings.problems[section]
}
