import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { ConfigSchema } from '../../src/config/config.js'
import { configKeys, namesAt } from '../../src/config/config-keys.js'
import { loadConfig } from '../../src/config/load-config.js'
import type { ConfigSources } from '../../src/config/load-config.js'
import { defaultBufferBounds } from '../../src/decisions/buffered-decision-log.js'
import { defaultRetention } from '../../src/decisions/retention.js'
import { AppError } from '../../src/errors/app-error.js'

const HASH = 'ab'.repeat(32)
let directory = ''

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'tidegate-config-'))
})
afterAll(() => rmSync(directory, { recursive: true }))

function writeConfig(text: string, name = 'tidegate.yaml'): string {
  const file = join(directory, name)
  writeFileSync(file, text)
  return file
}

function problemsOf(sources: Partial<ConfigSources>): string[] {
  try {
    loadConfig({ env: {}, ...sources })
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    expect(error.kind).toBe('invalid')
    return error.details.map(({ message }) => message.replaceAll(`${directory}/`, ''))
  }
  return []
}

function problemsIn(text: string, name?: string): string[] {
  return problemsOf({ file: writeConfig(text, name) })
}

describe('the effective configuration', () => {
  test('is complete without any file, variable or flag', () => {
    const config = loadConfig({ env: {} })
    expect(config.server.addr).toBe('127.0.0.1:8181')
    expect(config.policies.directories).toEqual(['policies'])
    expect(config.policies.staticPackages).toEqual(['static.**'])
    expect(config.auth.tokens).toEqual([])
    expect(config.log).toEqual({ level: 'info', format: 'json' })
  })

  test('has the defaults of the parts that it configures', () => {
    const { decisions } = loadConfig({ env: {} })
    expect(decisions).toMatchObject({
      maxInputBytes: defaultBufferBounds.maxInputBytes,
      maxResultBytes: defaultBufferBounds.maxResultBytes,
      bufferRows: defaultBufferBounds.maxBufferedRows,
      bufferBytes: defaultBufferBounds.maxBufferedBytes,
      givesWay: defaultBufferBounds.givesWay,
      flushIntervalMs: defaultBufferBounds.flushIntervalMs,
      maxBytes: defaultRetention.maxBytes,
    })
    expect(decisions.maxAgeDays * 24 * 60 * 60 * 1000).toBe(defaultRetention.maxAgeMs)
  })

  test('takes a flag before a variable before the file before the default, key by key', () => {
    const file = writeConfig('server: {addr: "127.0.0.1:1", drainSeconds: 1, maxBodyBytes: 1KiB}')
    const env = { TIDEGATE_SERVER_ADDR: '127.0.0.1:2', TIDEGATE_SERVER_DRAIN_SECONDS: '2' }
    const flags = [{ path: ['server', 'addr'], value: '127.0.0.1:3', origin: '--addr' }]
    expect(loadConfig({ file, env, flags }).server).toMatchObject({
      addr: '127.0.0.1:3',
      drainSeconds: 2,
      maxBodyBytes: 1024,
      insecure: false,
    })
  })

  test('reads a JSON file, tabs included', () => {
    const file = writeConfig('{\n\t"log": {\n\t\t"level": "warn"\n\t}\n}', 'tidegate.json')
    expect(loadConfig({ file, env: {} }).log.level).toBe('warn')
  })

  test.each(['', ' '])('an empty variable (%j) sets nothing, so that the file’s tokens stay', (empty) => {
    const tokens = [{ name: 'ci', roles: ['orchestrator'], sha256: HASH }]
    const file = writeConfig(JSON.stringify({ auth: { tokens }, server: { addr: '127.0.0.1:3' } }))
    const env = { TIDEGATE_AUTH_TOKENS: empty, TIDEGATE_SERVER_ADDR: empty, TIDEGATE_CONFIG: file }
    expect(loadConfig({ env })).toMatchObject({ auth: { tokens }, server: { addr: '127.0.0.1:3' } })
    expect(loadConfig({ env: { ...env, TIDEGATE_AUTH_TOKENS: '[]' } }).auth.tokens).toEqual([])
  })

  test('comes from the file that TIDEGATE_CONFIG names', () => {
    const file = writeConfig('dataDir: elsewhere')
    expect(loadConfig({ env: { TIDEGATE_CONFIG: file } }).dataDir).toBe('elsewhere')
  })

  test('treats an empty section and an empty file as absent', () => {
    expect(loadConfig({ file: writeConfig('server:\nlog:\n'), env: {} }).log.level).toBe('info')
    expect(loadConfig({ file: writeConfig(''), env: {} }).log.level).toBe('info')
  })

  test('leaves the default directory out where only bundles are named', () => {
    const env = { TIDEGATE_POLICIES_BUNDLES: 'a.tar.gz, b.tar.gz' }
    const { policies } = loadConfig({ env })
    expect(policies).toMatchObject({ directories: [], bundles: ['a.tar.gz', 'b.tar.gz'] })
  })

  test('is frozen to its depths', () => {
    const config = loadConfig({ env: {} })
    expect(() => Object.assign(config.policies.limits, { loopIterations: 1 })).toThrow(TypeError)
    expect(() => Object.assign(config.auth.tokens, [1])).toThrow(TypeError)
  })

  test.each([
    ['512', 512],
    ['512B', 512],
    ['2KB', 2000],
    ['2KiB', 2048],
    ['1.5 KiB', 1536],
    ['10MiB', 10 * 1024 * 1024],
    ['0mb', 0],
  ])('reads the size %s', (text, bytes) => {
    expect(loadConfig({ env: { TIDEGATE_DECISIONS_MAX_INPUT_BYTES: text } }).decisions.maxInputBytes).toBe(
      bytes,
    )
  })

  test.each(['127.0.0.1:0', '[::1]:8181', 'localhost:80', '127.8.8.8:1', '[::ffff:127.0.0.1]:1'])(
    'takes %s as loopback',
    (addr) => {
      expect(loadConfig({ env: { TIDEGATE_SERVER_ADDR: addr } }).server.addr).toBe(addr)
    },
  )

  test('may listen anywhere with a token or with server.insecure', () => {
    const tokens = JSON.stringify([{ name: 'ci', roles: ['admin'], sha256: HASH.toUpperCase() }])
    const guarded = loadConfig({ env: { TIDEGATE_SERVER_ADDR: '0.0.0.0:1', TIDEGATE_AUTH_TOKENS: tokens } })
    expect(guarded.auth.tokens).toEqual([{ name: 'ci', roles: ['admin'], groups: [], sha256: HASH }])
    expect(problemsOf({ env: { TIDEGATE_SERVER_ADDR: '[::]:1', TIDEGATE_SERVER_INSECURE: 'true' } })).toEqual(
      [],
    )
  })
})

describe('a problem names the key, the error, the allowed values and the location', () => {
  const OPEN =
    'is reachable from other machines: add tokens to auth.tokens (see `tidegate hash-token`), or set server.insecure: true (--insecure) to allow everyone'
  const token = (extra: string): string => `auth:\n  tokens:\n    - {name: a, roles: [admin], ${extra}}`

  test.each([
    ['servr: {}', 'servr: unknown key, did you mean server? (tidegate.yaml:1)'],
    ['zzz: 1', `zzz: unknown key; known are ${Object.keys(ConfigSchema.shape).join(', ')} (tidegate.yaml:1)`],
    ['server:\n  adr: "127.0.0.1:1"', 'server.adr: unknown key, did you mean server.addr? (tidegate.yaml:2)'],
    [
      'policies:\n  limits:\n    maxMemory: 1',
      'policies.limits.maxMemory: unknown key; known are loopIterations, loopIterationsPerInputByte, maxDurationMs, sliceMs, maxMemoryBytes, recycleMemoryBytes (tidegate.yaml:3)',
    ],
    [
      'server: {addr: ":8181"}',
      'server.addr: must be HOST:PORT, [ADDRESS]:PORT for IPv6, with a port from 0 to 65535, or unix:PATH for a socket, not ":8181" (tidegate.yaml:1)',
    ],
    [
      'server: {addr: "[::1:]:99999"}',
      'server.addr: must be HOST:PORT, [ADDRESS]:PORT for IPv6, with a port from 0 to 65535, or unix:PATH for a socket, not "[::1:]:99999" (tidegate.yaml:1)',
    ],
    ['server: {addr: "0.0.0.0:8181"}', `server.addr: 0.0.0.0:8181 ${OPEN} (tidegate.yaml:1)`],
    ['server: {addr: "tide.example.org:1"}', `server.addr: tide.example.org:1 ${OPEN} (tidegate.yaml:1)`],
    [
      'server: {publicUrl: "ftp://x"}',
      'server.publicUrl: must be an http or https URL without user name, password, query and fragment, not the current value (tidegate.yaml:1)',
    ],
    [
      'server: {drainSeconds: -1}',
      'server.drainSeconds: must be a whole number from 0 to 3600, not -1 (tidegate.yaml:1)',
    ],
    [
      'server: {maxBodyBytes: 10 parsecs}',
      'server.maxBodyBytes: must be a number of bytes from 1024 to 1073741824, or a text like 512KB or 10MiB, not "10 parsecs" (tidegate.yaml:1)',
    ],
    [
      'server: {insecure: yes please}',
      'server.insecure: must be true or false, not "yes please" (tidegate.yaml:1)',
    ],
    [
      'server: 5',
      `server: must be an object with ${namesAt(['server']).join(', ')}, not 5 (tidegate.yaml:1)`,
    ],
    [
      'log: {level: loud}',
      'log.level: must be one of debug, info, warn, error, silent, not "loud" (tidegate.yaml:1)',
    ],
    [
      token('token: hunter2'),
      'auth.tokens[0].token: tokens do not belong in the configuration: set sha256 to the output of `tidegate hash-token` (tidegate.yaml:2)',
    ],
    [
      token('sha256: hunter2'),
      'auth.tokens[0].sha256: must be the 64 hex digits of the SHA-256 of the token: `tidegate hash-token` prints them, not the current value (tidegate.yaml:2)',
    ],
    [
      `auth:\n  tokens:\n    - {name: a, roles: [root], sha256: ${HASH}}`,
      'auth.tokens[0].roles[0]: must be one of orchestrator, approver, auditor, author, instance, admin, not "root" (tidegate.yaml:2)',
    ],
    [
      `auth:\n  tokens:\n    - {name: a, roles: [admin], sha256: ${HASH}}\n    - {name: a, roles: [admin], sha256: ${'cd'.repeat(32)}}`,
      'auth.tokens: the name a is repeated (tidegate.yaml:2)',
    ],
    [
      'policies: {directories: []}',
      'policies.directories: there is nothing to load: add a directory of Rego here, a bundle to policies.bundles, or a server to policies.sources (tidegate.yaml:1)',
    ],
    [
      'policies: {staticPackages: [a..b]}',
      'policies.staticPackages[0]: must be package segments joined by dots, `*` for one segment and `**` for any number: static.**, not "a..b" (tidegate.yaml:1)',
    ],
    [
      'decisions: {mask: [secret]}',
      'decisions.mask[0]: must be a JSON pointer that starts with "/", in which "~" is written ~0 and "*" stands for every member: /stages/*/secret, not "secret" (tidegate.yaml:1)',
    ],
  ])('%s', (text, problem) => {
    expect(problemsIn(text).filter((line) => !line.includes('sha256: is missing'))).toEqual([problem])
  })

  test('in the environment', () => {
    const env = { TIDEGATE_SERVER_ADRR: 'x', TIDEGATE_LOG_LEVEL: 'loud', TIDEGATE_DECISIONS_ENABLED: 'on' }
    expect(problemsOf({ env })).toEqual([
      'environment variable TIDEGATE_SERVER_ADRR: unknown, did you mean TIDEGATE_SERVER_ADDR?',
      'decisions.enabled: must be true or false, not "on" (TIDEGATE_DECISIONS_ENABLED)',
      'log.level: must be one of debug, info, warn, error, silent, not "loud" (TIDEGATE_LOG_LEVEL)',
    ])
  })

  test.each(['hunter2', '["hunter2"]', '[{"name": "a", "roles": ["admin"], "sha256": ["hunter2"]}]'])(
    'never shows what may be a token: %s',
    (text) => {
      const problems = problemsOf({ env: { TIDEGATE_AUTH_TOKENS: text } })
      expect(problems.join()).toMatch(/^auth\.tokens.* not the current value \(TIDEGATE_AUTH_TOKENS\)$/)
    },
  )

  test('in a flag', () => {
    const flags = [{ path: ['log', 'level'], value: 'loud', origin: '--log-level' }]
    expect(problemsOf({ flags })[0]).toMatch(/^log\.level: .*, not "loud" \(--log-level\)$/)
  })

  test('all problems are reported together, including those across keys', () => {
    const text =
      'server:\n  addr: 0.0.0.0:1\n  drainSeconds: soon\n  prot: 1\npolicies: {directories: []}\nlog: 3'
    const problems = problemsIn(text)
    expect(problems.map((problem) => problem.slice(0, problem.indexOf(':')))).toEqual([
      'server.drainSeconds',
      'server.prot',
      'log',
      'server.addr',
      'policies.directories',
    ])
  })
})

/** A hundred values, a hundred times that and a hundred times those. */
const ALIASES = ['a: &a [1', 'b: &b [*a', 'c: &c [*b']
  .map((line) => `${line}${`, ${line.split('[')[1] ?? ''}`.repeat(99)}]\n`)
  .join('')

describe('a file that cannot be read', () => {
  test('is refused when it is not there', () => {
    expect(() => loadConfig({ file: join(directory, 'none.yaml'), env: {} })).toThrow(/none\.yaml not found/)
  })

  test.each([
    ['tidegate.json', '{"log": }', /tidegate\.json: Unexpected token/],
    ['tidegate.yaml', 'log: [', /tidegate\.yaml is not well-formed/],
    ['tidegate.yaml', '- 1', /must be an object of sections/],
    ['tidegate.yaml', '\0', /is not UTF-8 text: convert it to UTF-8/],
    ['tidegate.yaml', `${ALIASES}server: *c\n`, /tidegate\.yaml: Excessive alias count/],
  ])('is refused when %s holds %s', (name, text, message) => {
    expect(() => loadConfig({ file: writeConfig(text, name), env: {} })).toThrow(message)
  })

  test('rejects several documents in its own words', () => {
    expect(problemsIn('server: {}\n---\nlog: {}\n')).toEqual([
      'Source contains multiple documents, of which a configuration is one',
    ])
  })

  test.each(['constructor', 'toString', '__proto__'])(
    'says that %s, as all objects have, is no key',
    (name) => {
      expect(problemsIn(`${name}: 1\n`)).toEqual([expect.stringContaining(`${name}: unknown key`)])
    },
  )

  test('reports a wrong number once and quotes it as written', () => {
    expect(problemsIn('server: {maxBodyBytes: 1e30}\n')).toHaveLength(1)
    expect(problemsIn('server: {drainSeconds: .inf}\n')).toEqual([expect.stringContaining('not Infinity')])
  })

  test('reports gates that no one can approve', () => {
    const gate = (id: number, rest: string) => `    - {id: ${id}, name: G${id}, approvals: 2, ${rest}}\n`
    const few = gate(1, 'approvers: {users: [ana, Ana]}')
    const enough = gate(2, 'approvers: {users: [ana, bo]}') + gate(3, 'connectors: []')
    const group = gate(4, 'approvers: {users: [ana], groups: [leads]}')
    expect(problemsIn(`gates:\n  definitions:\n${few}${enough}${group}`)).toEqual([
      expect.stringMatching(/gate 1: it needs 2 approvals, but approvers lists only one user[^;]*$/),
    ])
  })

  test('reports line and column of malformed YAML', () => {
    const file = writeConfig('log:\n  level: "x')
    try {
      loadConfig({ file, env: {} })
      expect.unreachable()
    } catch (error) {
      expect(error instanceof AppError && error.details[0]?.location).toEqual({ file, row: 2, col: 12 })
    }
  })
})

describe('a key under its name of an earlier release', () => {
  test.each([
    ['the file', { text: 'analysis:\n  concurrentLooks: 7\n' }],
    ['the environment', { env: { TIDEGATE_ANALYSIS_CONCURRENT_LOOKS: '7' } }],
  ])('is taken from %s', (_, { text = '', env = {} }: { text?: string; env?: Record<string, string> }) => {
    const config = loadConfig({ file: writeConfig(text), env })
    expect(config.analysis.concurrentIntervals).toBe(7)
  })

  test('is no key of its own, and gives way to a later layer', () => {
    const file = writeConfig('analysis:\n  concurrentLooks: 7\n')
    const env = { TIDEGATE_ANALYSIS_CONCURRENT_INTERVALS: '3' }
    expect(loadConfig({ file, env }).analysis.concurrentIntervals).toBe(3)
    expect(configKeys.map(({ env: variable }) => variable)).not.toContain(
      'TIDEGATE_ANALYSIS_CONCURRENT_LOOKS',
    )
    expect(problemsIn('analysis:\n  concurrentLooks: none\n').join()).toContain('concurrentIntervals')
  })
})

describe('the keys', () => {
  test('have one variable each, and all of them are described', () => {
    expect(new Set(configKeys.map(({ env }) => env)).size).toBe(configKeys.length)
    for (const { description, allowed } of configKeys) expect([description, allowed]).not.toContain('')
  })

  test('name their variables after their paths', () => {
    const key = configKeys.find(({ path }) => path.join('.') === 'policies.limits.loopIterationsPerInputByte')
    expect(key?.env).toBe('TIDEGATE_POLICIES_LIMITS_LOOP_ITERATIONS_PER_INPUT_BYTE')
  })
})
