import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const ROLES = 97
const TEAMS = 503

/** The library file shared by the packages, relative to their directory. */
export const LIBRARY_FILE = join('lib', 'accounts.rego')

/**
 * Writes packages with two rules each, optionally using a shared library. Returns an input of 20
 * stages that some of them deny.
 */
export function writePackages(directory: string, count: number, sharesLibrary = false): unknown {
  for (let number = 0; number < count; number += 1)
    writeInto(directory, join(`team${number}`, 'policy.rego'), packageText(number, sharesLibrary))
  if (sharesLibrary) writeInto(directory, LIBRARY_FILE, LIBRARY)
  const stages = Array.from({ length: 20 }, (_, index) => ({
    refId: String(index),
    type: index % 2 === 0 ? `kind${index}` : 'deploy',
    name: `stage ${index}`,
    account: `account${index}`,
  }))
  return { application: 'app7', stages }
}

/** Replaces a file atomically, as most editors do. */
export function saveFile(file: string, text: string): void {
  writeFileSync(`${file}.new`, text)
  renameSync(`${file}.new`, file)
}

function writeInto(directory: string, name: string, text: string): void {
  const file = join(directory, name)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

const LIBRARY = `package lib.accounts

import rego.v1

shared := {"shared", "common"}

is_shared(account) if account in shared

is_shared(account) if startswith(account, "all-")
`

function packageText(number: number, sharesLibrary: boolean): string {
  return `package static.team${number}

import rego.v1
${sharesLibrary ? '\nimport data.lib.accounts\n' : ''}
deny contains message if {
	some stage in input.stages
	stage.type == "kind${number}"
	not allowed_accounts[stage.account]
${sharesLibrary ? '\tnot accounts.is_shared(stage.account)\n' : ''}	message := sprintf("%v may not deploy to %v", [stage.name, stage.account])
}

allowed_accounts := {"test${number}", "staging${number}"}
`
}

/**
 * Writes role bindings of a given size and a policy that reads one. Returns an input that it
 * allows.
 */
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
