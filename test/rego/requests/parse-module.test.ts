import { execFileSync } from 'node:child_process'
import { chmodSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { planDocument } from '../../../src/rego/evaluation/evaluate-document.js'
import { findOpa } from '../../../src/rego/opa/find-opa.js'
import type { OpaProgram } from '../../../src/rego/opa/find-opa.js'
import type { ModuleParser } from '../../../src/rego/requests/module-parser.js'
import type { ParseModuleSettings } from '../../../src/rego/requests/request-settings.js'
import { Evaluations } from '../../../src/rego/slow/evaluations.js'
import type { EvaluateOptions } from '../../../src/rego/slow/evaluations-options.js'
import type { SlowEvaluations } from '../../../src/rego/slow/slow-evaluations.js'
import type { Snapshot } from '../../../src/rego/snapshot/snapshot.js'
import { loadPolicies } from '../../support/load-policies.js'
import { loopbackRequests, testParser } from '../../support/policy-requests.js'
import { makeSlowEvaluations, startOnThisThread } from '../../support/slow-evaluations.js'
import { makeWorkspace } from '../../support/workspace.js'

const POLICIES = `package p

import rego.v1

tree := rego.parse_module(input.file, input.text)
names contains module["package"].path[1].value if {
  some text in input.texts
  module := rego.parse_module("m.rego", text)
}
parses if rego.parse_module("m.rego", input.text)
deny contains "it does not parse" if not parses
`
const MODULES: readonly (readonly [what: string, file: string, text: string])[] = [
  [
    'rules, comments and annotations',
    'a.rego',
    '# METADATA\n# title: x\npackage a.b\n\n# METADATA\n# description: d\np := 1 { input.x == 9007199254740993 } # c\n',
  ],
  [
    'keywords of version 1',
    'dir/b.rego',
    'package b\nimport rego.v1\nq contains y if { some y in [1, 2e400, -0, 1.50]; not y in {"ü": "\\u0000"} }',
  ],
  ['comprehensions and with', '', 'package c\np := {x | x := input[_] with data.k as {}}'],
  ['a text that ends early', 'd.rego', 'package d\np {'],
  ['no text', 'e.rego', ''],
  ['no module but a comment', 'f.rego', '# nothing'],
  ['NUL and other bytes', 'g\u0000.rego', 'package g\n\u0000p = 1'],
]

const MODULE = { file: 'a.rego', text: 'package a' }

let snapshot: Snapshot
let slow: SlowEvaluations
let opa: OpaProgram

beforeAll(async () => {
  opa = await findOpa({ env: process.env })
  snapshot = await loadPolicies({ 'p.rego': POLICIES })
  slow = makeSlowEvaluations(startOnThisThread)
})
afterAll(() => slow.stop())

function parserOf(settings: Partial<ParseModuleSettings> = {}): ModuleParser {
  return testParser(settings, () => Promise.resolve(opa))
}

async function ask(
  rule: string,
  input: unknown,
  parser: ModuleParser | null = parserOf(),
  options: Partial<EvaluateOptions> & { readonly sliceMs?: number } = {},
): Promise<unknown> {
  const requests = loopbackRequests({ allowedHosts: [] }, { parser: parser ?? undefined })
  const evaluations = new Evaluations({
    slow,
    sliceMs: options.sliceMs ?? 1000,
    abandoned: () => undefined,
    requests,
  })
  try {
    const bytes = Buffer.from(JSON.stringify(input))
    const text = await evaluations.document(planDocument(snapshot, ['p', rule]), bytes, {
      nowMs: Date.now(),
      ...options,
    })
    return text === undefined ? undefined : (JSON.parse(text) as unknown)
  } finally {
    await requests.close()
  }
}

function askOpa(file: string, text: string): unknown {
  const args = ['eval', '--format', 'json', '--stdin-input', 'rego.parse_module(input.file, input.text)']
  const stdout = execFileSync(opa.path, args, { input: JSON.stringify({ file, text }), encoding: 'utf8' })
  const { result } = JSON.parse(stdout) as { result?: [{ expressions: [{ value: unknown }] }] }
  return result?.[0].expressions[0].value
}

describe('rego.parse_module', () => {
  test.each(MODULES)('answers as OPA does: %s', async (_what, file, text) => {
    expect(await ask('tree', { file, text })).toEqual(askOpa(file, text))
  })

  test('is undefined for what is no module, and an error with OPA’s words where built-ins are strict', async () => {
    const input = { file: 'd.rego', text: 'package d\np {' }
    expect(await ask('tree', input)).toBeUndefined()
    expect(await ask('deny', input)).toEqual(['it does not parse'])
    const strict = ask('tree', input, parserOf(), { strictBuiltinErrors: true })
    await expect(strict).rejects.toMatchObject({
      details: [
        {
          code: 'eval_builtin_error',
          message: expect.stringMatching(
            /^rego\.parse_module: 1 error occurred: d\.rego:2: rego_parse_error/,
          ) as unknown,
        },
      ],
    })
  })

  test.each([0, 1000])('may be called for several texts, with slices of %d ms', async (sliceMs) => {
    const texts = ['package one', 'package two', 'package one', 'no package']
    expect(await ask('names', { texts }, parserOf(), { sliceMs })).toEqual(['one', 'two'])
  })

  test('parses a text once for all decisions', async () => {
    const program = { ...opa }
    const parser = testParser({}, () => Promise.resolve(program))
    const first = await ask('tree', MODULE, parser)
    program.path = '/nonexistent/opa'
    expect(await ask('tree', MODULE, parser)).toEqual(first)
    await expect(ask('tree', { ...MODULE, file: 'b.rego' }, parser)).rejects.toMatchObject({
      kind: 'unavailable',
    })
  })

  test.each<[limit: string, settings: Partial<ParseModuleSettings>, words: string]>([
    ['a text that is too long', { maxTextBytes: 10 }, 'its text is longer than 10 bytes'],
    ['a tree that is too large', { maxAnswerBytes: 10 }, 'its tree is longer than 10 bytes'],
  ])('is no answer for %s', async (_limit, settings, words) => {
    await expect(ask('deny', MODULE, parserOf(settings))).rejects.toMatchObject({
      kind: 'evaluation_failed',
      code: 'evaluation_request_refused',
      message: expect.stringContaining(words) as unknown,
    })
  })

  test('is no answer for a program that takes too long', async () => {
    const workspace = makeWorkspace({ opa: '#!/bin/sh\nexec sleep 30\n' })
    const path = join(workspace.path, 'opa')
    chmodSync(path, 0o700)
    const parser = testParser({ timeoutSeconds: 0.001 }, () => Promise.resolve({ ...opa, path }))
    await expect(ask('deny', MODULE, parser)).rejects.toMatchObject({
      kind: 'evaluation_failed',
      code: 'evaluation_request_refused',
      message: expect.stringContaining('it takes longer than 0.001 s') as unknown,
    })
    workspace.remove()
  })

  test('sends away who finds no room in the line, and lets the others have their turn', async () => {
    const parser = parserOf({ programs: 1, queueLength: 1 })
    const asked = ['a.rego', 'b.rego', 'c.rego'].map((file) => ask('tree', { ...MODULE, file }, parser))
    const outcomes = await Promise.allSettled(asked)
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected'])
    expect(outcomes[2]).toMatchObject({ reason: { kind: 'unavailable', retryAfterSeconds: 1 } })
  })

  test('is counted by how it ended', async () => {
    const told: string[] = []
    const parsed = (outcome: string): void => void told.push(outcome)
    const parser = testParser({ maxTextBytes: 20 }, () => Promise.resolve(opa), { parsed })
    for (const text of ['package a', 'package a', 'none']) await ask('tree', { file: 'a.rego', text }, parser)
    const limited = testParser({ maxAnswerBytes: 10 }, () => Promise.resolve(opa), { parsed })
    await expect(ask('tree', MODULE, limited)).rejects.toThrow('policies.parseModule.maxAnswerBytes')
    expect(told).toEqual(['parsed', 'cached', 'no_module', 'refused'])
  })

  test('ends the decision where nothing is to be parsed', async () => {
    await expect(ask('deny', MODULE, null)).rejects.toMatchObject({ code: 'evaluation_request_refused' })
  })
})
