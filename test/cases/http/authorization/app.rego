package app

import rego.v1

public := "public"

secret := "secret"

access := true
