# METADATA
# title: Required roles
# description: Production can be changed only by people who answer for it, and they are never locked out.
package static.required_roles

import data.lib.pipeline
import data.lib.production
import data.settings.roles as settings
import rego.v1

deny contains text if {
	count(production.deploys) > 0
	not any_of(settings.production_pipeline, pipeline.get(pipeline.document, "roles", []))
	text := sprintf("pipeline '%s' deploys to production; give it at least one of the roles: %s", [
		pipeline.name,
		concat(", ", settings.production_pipeline),
	])
}

# Only the orchestrator's own save task says who saves.
deny contains text if {
	count(production.deploys) > 0
	user := pipeline.document.user
	not any_of(settings.production_pipeline, pipeline.get(user, "groups", []))
	text := sprintf("user '%v' may not save pipeline '%s', which deploys to production; that takes one of the roles: %s", [
		pipeline.get(user, "name", "unknown"),
		pipeline.name,
		concat(", ", settings.production_pipeline),
	])
}

# An application without write permissions is open to all, so it locks nobody out.
deny contains text if {
	some application in applications
	writers := pipeline.as_list(application.permissions.WRITE)
	count(writers) > 0
	not any_of(settings.application_write, writers)
	text := sprintf("application '%v' gives WRITE to none of the roles: %s; add one of them", [
		pipeline.get(application, "name", pipeline.get(application, "application", "without a name")),
		concat(", ", settings.application_write),
	])
}

applications contains input.app.job[_].application

applications contains input.app

applications contains input.new

any_of(allowed, given) if {
	some role in pipeline.as_list(given)
	role in allowed
}
