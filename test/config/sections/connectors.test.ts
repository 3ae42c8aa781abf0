import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { readCredentials } from '../../../src/config/values/credentials.js'
import { loadConfig } from '../../../src/config/load-config.js'
import { readSecrets } from '../../../src/config/read-secrets.js'
import { authHeaders } from '../../../src/lib/outbound/credentials.js'
import { problemsOf } from '../../support/problems-of.js'

let directory = ''
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'tidegate-connectors-'))
})
afterAll(() => rmSync(directory, { recursive: true }))

const JIRA = { name: 'ops', type: 'jira', url: 'https://jira.example.org' }

function load(...accounts: unknown[]) {
  const file = join(directory, 'tidegate.json')
  writeFileSync(file, JSON.stringify({ connectors: { accounts } }))
  return loadConfig({ file, env: {} })
}

function problemsIn(...accounts: unknown[]): string[] {
  return problemsOf(() => load(...accounts)).map((text) => text.replace(/ \([^(]*tidegate\.json[^)]*\)$/, ''))
}

describe('an account', () => {
  test('needs no more than a name, a type and a URL', () => {
    expect(load(JIRA).connectors.accounts).toEqual([
      { ...JIRA, timeoutSeconds: 10, attempts: 3, maxResponseBytes: 2_097_152 },
    ])
  })

  test.each([
    {
      name: 'an unknown type',
      account: { ...JIRA, type: 'jra' },
      problem: 'type: must be one of jira, servicenow',
    },
    { name: 'no URL', account: { name: 'ops', type: 'jira' }, problem: 'url: is missing' },
    {
      name: 'another scheme',
      account: { ...JIRA, url: 'ftp://x' },
      problem: 'url: must be an http or https URL',
    },
    { name: 'an unknown key', account: { ...JIRA, urll: 1 }, problem: 'urll: unknown key, did you mean' },
    {
      name: 'an unknown way to sign in',
      account: { ...JIRA, credentials: { type: 'oauth' } },
      problem: 'credentials.type: must be one of bearer, basic, header',
    },
    {
      name: 'half of its credentials',
      account: { ...JIRA, credentials: { type: 'basic', password: { env: 'A' } } },
      problem: 'credentials.username: is missing: must be a name without colons',
    },
    {
      name: 'an unknown key in its credentials',
      account: { ...JIRA, credentials: { type: 'bearer', token: { env: 'A' }, pasword: 'x' } },
      problem: 'credentials.pasword: unknown key, did you mean connectors.accounts[0].credentials.password?',
    },
    {
      name: 'a placeholder where the tool has none',
      account: { ...JIRA, url: 'https://jira.example.org/{id}' },
      problem: 'placeholders and queries in a URL are for type http only: ops',
    },
    {
      name: 'a placeholder for the host',
      account: { ...JIRA, type: 'http', url: 'https://{host}.example.org/' },
      problem: 'url: must be an http or https URL',
    },
    {
      name: 'a broken placeholder',
      account: { ...JIRA, type: 'http', url: 'https://x.example.org/{id' },
      problem: 'url: must be an http or https URL',
    },
  ])('with $name is refused', ({ account, problem }) => {
    const problems = problemsIn(account)
    expect(problems).toHaveLength(1)
    expect(problems[0]).toContain(problem)
  })

  test.each([
    { credentials: { type: 'bearer', token: 'hunter2' } },
    { credentials: { type: 'bearer', token: { env: 'hunter2 ' } } },
    { credentials: { type: 'basic', username: 'hunter2:', password: { env: 'A' } } },
    { credentials: 'hunter2' },
    { credentials: { type: 'hunter2' } },
    { url: 'https://ana:hunter2@example.org' },
  ])('never shows a secret that was written inline: %j', (wrong) => {
    const problems = problemsIn({ ...JIRA, ...wrong })
    expect(problems).toHaveLength(1)
    expect(problems[0]).toContain('not the current value')
    expect(problems[0]).not.toContain('hunter2')
  })

  test('has a name of its own', () => {
    expect(problemsIn(JIRA, { ...JIRA, type: 'http' })).toEqual([
      'connectors.accounts: the name ops is repeated',
    ])
  })
})

describe('the secrets of the accounts', () => {
  const bearer = { ...JIRA, credentials: { type: 'bearer', token: { env: 'JIRA_TOKEN' } } }

  test('are read from the environment and from files, without the line break at the end', () => {
    const path = join(directory, 'password')
    writeFileSync(path, 'pä:ss\n')
    const basic = { type: 'basic', username: 'ana', password: { file: path } }
    const header = { type: 'header', name: 'PRIVATE-TOKEN', value: { env: 'GITLAB_TOKEN' } }
    const config = load(
      bearer,
      { ...JIRA, name: 'b', credentials: basic },
      { ...JIRA, name: 'c', credentials: header },
    )
    const readSecret = readSecrets(config, { JIRA_TOKEN: 't1', GITLAB_TOKEN: 't2' })
    const headers = config.connectors.accounts.map(({ credentials }) =>
      authHeaders(readCredentials(credentials, readSecret)),
    )
    expect(headers).toEqual([
      { authorization: 'Bearer t1' },
      { authorization: `Basic ${Buffer.from('ana:pä:ss').toString('base64')}` },
      { 'private-token': 't2' },
    ])
  })

  test('that are missing or unusable are all named with their keys, and none is shown', () => {
    const inFile = (name: string, file: string) => ({
      ...JIRA,
      name,
      credentials: { type: 'basic', username: 'ana', password: { file } },
    })
    const lines = join(directory, 'lines')
    writeFileSync(lines, 'hunter2\nhunter3\n')
    const config = load(bearer, inFile('b', join(directory, 'absent')), inFile('c', lines))
    const problems = problemsOf(() => readSecrets(config, { JIRA_TOKEN: ' ' }))
    expect(problems[0]).toBe(
      'connectors.accounts[0].credentials.token: the environment variable JIRA_TOKEN is not set or is empty',
    )
    expect(problems[1]).toMatch(
      /^connectors\.accounts\[1\]\.credentials\.password: the file .*absent cannot be read/,
    )
    expect(problems[2]).toMatch(/lines holds line breaks or control characters$/)
    expect(problems.join()).not.toContain('hunter')
  })

  test('do not show in JSON or text', () => {
    const secret = readSecrets(load(bearer), { JIRA_TOKEN: 'hunter2' })({ env: 'JIRA_TOKEN' })
    expect(`${JSON.stringify({ secret })} ${inspect(secret, { showHidden: true })}`).not.toContain('hunter2')
    expect(secret.reveal()).toBe('hunter2')
  })

  test('of accounts without credentials are none', () => {
    const config = load(JIRA)
    const [account] = config.connectors.accounts
    expect(authHeaders(readCredentials(account?.credentials, readSecrets(config, {})))).toEqual({})
  })
})
