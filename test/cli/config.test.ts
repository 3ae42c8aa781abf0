import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll, describe, expect, test } from 'vitest'

import { configKeys, configurationPage } from '../../src/config/config-keys.js'
import { ROOT, runTidegate } from '../support/run-tidegate.js'
import { makeWorkspace } from '../support/workspace.js'

const HASH = '0123456789abcdef'.repeat(4)
const workspace = makeWorkspace({
  'good.yaml': `auth:\n  tokens:\n    - {name: ci, roles: [admin], sha256: ${HASH}}\nlog:\n  level: warn\n`,
  'bad.yaml': 'server:\n  adr: x\nlog:\n  level: loud\n',
})
afterAll(workspace.remove)
const { path: cwd } = workspace

describe('config', () => {
  test('prints the effective values, where they come from, and no whole hash', async () => {
    const env = { TIDEGATE_SERVER_ADDR: '0.0.0.0:80' }
    const { exitCode, stdout, stderr } = await runTidegate(['config', '--config', 'good.yaml'], { cwd, env })
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    expect(stdout).toContain('  addr: 0.0.0.0:80 # TIDEGATE_SERVER_ADDR\n')
    expect(stdout).toContain('  level: warn # good.yaml:5\n')
    expect(stdout).toContain('  drainSeconds: 10\n')
    expect(stdout).toContain('sha256: 01234567…\n')
    expect(stdout).not.toContain(HASH)
  })

  test.each(['text', 'json'])('prints the key in the URL of a tool in no format: %s', async (format) => {
    workspace.write({
      'keyed.yaml':
        'connectors: {accounts: [{name: k, type: http, connectorType: SCAN, url: "https://h.example/{id}?api_key=hunter2"}]}\n',
    })
    const { stdout } = await runTidegate(['config', '--config', 'keyed.yaml', '--format', format], { cwd })
    expect(stdout).toContain('https://h.example/{id}?api_key=[redacted]')
    expect(stdout).not.toContain('hunter2')
  })

  test.each([
    'server: {publicUrl: URL}',
    'orchestrator: {storageUrl: URL}',
    'orchestrator: {gateUrl: URL}',
    'analysis: {sources: [{name: a, type: loki, url: URL}]}',
    'connectors: {accounts: [{name: j, type: jira, url: URL}]}',
    'connectors: {accounts: [{name: j, type: http, connectorType: SCAN, url: URL}]}',
  ])('takes no credentials in %s, and does not repeat them', async (text) => {
    workspace.write({ 'secret.yaml': `${text.replace('URL', '"https://bot:hunter2@h.example/"')}\n` })
    const { exitCode, stdout, stderr } = await runTidegate(['config', '--config', 'secret.yaml'], { cwd })
    expect(exitCode).toBe(2)
    expect(stderr).toContain('without user name')
    expect(stdout + stderr).not.toContain('hunter2')
  })

  test('prints JSON for programs', async () => {
    const { stdout } = await runTidegate(['config', '--format', 'json'], { cwd })
    expect(JSON.parse(stdout)).toMatchObject({ dataDir: 'data', policies: { directories: ['policies'] } })
  })

  test('lists every problem at once and exits with 2', async () => {
    const run = await runTidegate(['config', '--config', 'bad.yaml'], {
      cwd,
      env: { TIDEGATE_UNHEARD_OF: '1' },
    })
    expect(run).toEqual({
      exitCode: 2,
      stdout: '',
      stderr: [
        'tidegate: the configuration cannot be used: 3 problems',
        'unknown_variable: environment variable TIDEGATE_UNHEARD_OF: unknown',
        'unknown_key: server.adr: unknown key, did you mean server.addr? (bad.yaml:2)',
        'invalid_value: log.level: must be one of debug, info, warn, error, silent, not "loud" (bad.yaml:4)',
        '',
      ].join('\n'),
    })
  })

  test('is documented by the committed page', () => {
    const committed = readFileSync(join(ROOT, 'docs/reference/configuration.md'), 'utf8')
    expect(committed).toBe(configurationPage(configKeys))
  })
})

describe('serve', () => {
  test('does not start where everyone could call it', async () => {
    const { exitCode, stdout, stderr } = await runTidegate(['serve', '--addr', '0.0.0.0:0'], { cwd })
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(stderr).toMatch(
      /server\.addr: 0\.0\.0\.0:0 is reachable .* auth\.tokens .* \(--insecure\).*\(--addr\)\n$/,
    )
  })
})
