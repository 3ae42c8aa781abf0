import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const ROLES = 97
const TEAMS = 503

/** Writes so many packages of two rules each, and gives an input of 20 stages that some of them deny. */
export function writePackages(directory: string, count: number): unknown {
  for (let number = 0; number < count; number += 1) {
    const folder = join(directory, `team${number}`)
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'policy.rego'), packageText(number))
  }
  const stages = Array.from({ length: 20 }, (_, index) => ({
    refId: String(index),
    type: index % 2 === 0 ? `kind${index}` : 'deploy',
    name: `stage ${index}`,
    account: `account${index}`,
  }))
  return { application: 'app7', stages }
}

function packageText(number: number): string {
  return `package static.team${number}

import rego.v1

deny contains message if {
	some stage in input.stages
	stage.type == "kind${number}"
	not allowed_accounts[stage.account]
	message := sprintf("%v may not deploy to %v", [stage.name, stage.account])
}

allowed_accounts := {"test${number}", "staging${number}"}
`
}

/** Writes role bindings of about so many bytes and a policy that looks one up, and gives an input that it allows. */
export function writeBindings(directory: string, bytes: number): unknown {
  mkdirSync(directory, { recursive: true })
  const users: string[] = []
  for (let size = 0; size < bytes; size += (users.at(-1)?.length ?? 0) + 1) users.push(binding(users.length))
  writeFileSync(join(directory, 'data.json'), `{"bindings":{"users":{${users.join(',')}}}}`)
  writeFileSync(join(directory, 'access.rego'), ACCESS)
  return { user: userName(1) }
}

const ACCESS = `package access

import rego.v1

default allow := false

allow if "developer" in data.bindings.users[input.user].roles
`

function binding(number: number): string {
  const value = {
    roles: [`role-${number % ROLES}`, 'developer'],
    teams: [{ name: `team-${number % TEAMS}`, since: 2000 + (number % 25) }],
    active: number % 7 !== 0,
    id: number,
  }
  return `${JSON.stringify(userName(number))}:${JSON.stringify(value)}`
}

function userName(number: number): string {
  return `user-${number}@example.com`
}
