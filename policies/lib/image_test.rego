package lib.image_test

import data.lib.fixtures
import data.lib.image
import rego.v1

trusted(name) if image.is_trusted(name) with data.settings as fixtures.settings

test_images_of_trusted_sources_are_trusted if {
	every name in [
		"registry.test/shop",
		"REGISTRY.test/team/shop:1.2",
		"ghcr.test/team/shop@sha256:0a",
		"nginx",
		"nginx:1.27",
		"library/nginx",
		"docker.io/nginx",
		"index.docker.io/library/nginx:1",
		"one/app",
		"one/app:2",
		"one/app@sha256:0a",
	] {
		trusted(name)
	}
}

test_images_of_other_sources_are_not_trusted if {
	every name in [
		"evil.test/shop",
		"registry.test.evil.test/shop",
		"registry.test:5000/shop",
		"ghcr.test/teammate/shop",
		"docker.io/evil/nginx",
		"evil/nginx",
		"one/apples",
		"localhost/library/nginx",
		"localhost:5000/nginx",
	] {
		not trusted(name)
	}
}

test_an_expression_after_a_trusted_source_is_trusted if {
	trusted("registry.test/shop:${trigger['tag']}")
	trusted("registry.test/${parameters.name}")
	trusted("one/app:${parameters.tag}")
}

test_an_expression_that_may_choose_the_source_is_not_trusted if {
	every name in ["${parameters.image}", "registry.test${parameters.rest}", "nginx:${parameters.tag}", "one/app${parameters.rest}"] {
		not trusted(name)
	}
}

test_a_name_is_completed_as_the_container_runtimes_do if {
	image.canonical("nginx:1") == "docker.io/library/nginx:1"
	image.canonical("registry-1.docker.io/a/b") == "docker.io/a/b"
	image.canonical("localhost") == "docker.io/library/localhost"
	image.canonical("localhost/b") == "localhost/b"
	image.canonical("host:5000/b") == "host:5000/b"
}

test_images_of_kubernetes_manifests_are_found if image.images(fixtures.running_image(" a ")) == {"a"}

test_images_of_clusters_are_found if {
	image.images({"clusters": [{"containers": [{"imageDescription": {"registry": "r", "repository": "a"}}]}]}) == {"r/a"}
	image.images({"clusters": [{"imageDescription": {"imageId": "r/a:1"}}]}) == {"r/a:1"}
	image.images({"containers": [{"imageDescription": {"imageId": "r/a:1"}}]}) == {"r/a:1"}
}

test_an_image_id_is_a_container_image_only_on_titus if {
	image.images({"clusters": [{"cloudProvider": "titus", "imageId": "a:1"}]}) == {"a:1"}
	image.images({"clusters": [{"cloudProvider": "aws", "imageId": "ami-1"}]}) == set()
}

test_required_docker_artifacts_are_found if {
	image.images({"requiredArtifacts": [
		{"artifact": {"type": "docker/image", "reference": "a:1", "name": "a"}},
		{"artifact": {"type": "docker/image", "reference": "", "name": "b"}},
		{"artifact": {"type": "docker/image"}},
		{"artifact": {"type": "embedded/base64", "reference": "c"}},
	]}) == {"a:1", "b"}
}

test_images_that_are_no_text_are_left_out if {
	every none in [7, "", null] { image.images(fixtures.running_image(none)) == set() }
}

test_an_artifact_without_a_name_is_left_out if image.in_artifacts([{"type": "docker/image"}]) == set()
