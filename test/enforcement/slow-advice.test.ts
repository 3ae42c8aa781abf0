import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { Enforcement, evaluatesBy } from '../../src/enforcement/enforcement.js'
import { ExceptionBook } from '../../src/enforcement/exceptions/exception-book.js'
import { AppError } from '../../src/errors/app-error.js'
import { newCall } from '../../src/rego/evaluation/new-call.js'
import { pathKey, planDocument } from '../../src/rego/index.js'
import type { Snapshot } from '../../src/rego/index.js'
import { loadPolicies } from '../support/load-policies.js'

const INPUT = Buffer.from('{"new": {"application": "shop"}}')
const NEVER = new Promise<never>(() => undefined)
const reasons = (name: string): string =>
  `package static.${name}\nimport rego.v1\ndeny contains "${name}" if true\n`
const keys = ['strict', 'slow'].map((name) => pathKey(['static', name]))
const book = new ExceptionBook()
const levels = [{ package: 'static.slow', level: 'warn' as const }]
const limited = new Enforcement({ levels, exceptions: book, maxAdviceMs: 1 })
const evaluates = evaluatesBy((evaluate) => Promise.resolve(evaluate(newCall())))

describe('a package that only warns', () => {
  let snapshot: Snapshot
  beforeAll(async () => {
    snapshot = await loadPolicies({ 'strict.rego': reasons('strict'), 'slow.rego': reasons('slow') })
  })
  afterAll(() => book.replace([]))

  it('does not delay the denials of others for longer than the limit, and is cancelled', async () => {
    const dropped: string[] = []
    const recorded: unknown[] = []
    const verdict = await limited.static(
      {
        ...evaluates,
        advice: (_snapshot, _request, _input, options) => {
          options.onClientGone?.(() => {
            dropped.push('advice')
            options.recorded?.(new Map())
          })
          return NEVER
        },
      },
      snapshot,
      keys,
      INPUT,
      { nowMs: 0, recorded: (calls) => void recorded.push(calls) },
    )
    expect(verdict).toEqual({
      denials: [{ packageName: 'static.strict', text: 'strict' }],
      warnings: [
        {
          packageName: 'static.slow',
          text: 'could not be evaluated: the warnings took over 1 ms',
          kind: 'error',
        },
      ],
    })
    expect([dropped, recorded]).toEqual([['advice'], []])
  })

  it('does not delay an answer about its own rule either', async () => {
    const plan = planDocument(snapshot, ['static', 'slow', 'deny'])
    const verdict = await limited.runtime({ ...evaluates, runtime: () => NEVER }, plan, INPUT, { nowMs: 0 })
    expect(verdict).toMatchObject({ denials: [], warnings: [{ packageName: 'static.slow', kind: 'error' }] })
  })

  it('warns if it is evaluated in time, with the options of the decision', async () => {
    const own = new Enforcement({ levels, exceptions: book, maxAdviceMs: 60_000 })
    class Decision {
      readonly #made = { nowMs: 17, caller: 'ana' }
      get nowMs(): number {
        return this.#made.nowMs
      }
      get caller(): string {
        return this.#made.caller
      }
    }
    const seen: unknown[] = []
    const { warnings } = await own.static(
      {
        ...evaluates,
        advice: async (...args) => {
          seen.push([args[3].nowMs, args[3].caller])
          return await evaluates.advice(...args)
        },
      },
      snapshot,
      keys,
      INPUT,
      new Decision(),
    )
    expect(warnings).toEqual([{ packageName: 'static.slow', text: 'slow', kind: 'level' }])
    expect(seen).toEqual([[17, 'ana']])
  })

  it('raises an error that is no failure of the policy', async () => {
    const bug = new Error('bug')
    const failing = { ...evaluates, advice: () => Promise.reject(bug) }
    await expect(limited.static(failing, snapshot, keys, INPUT, { nowMs: 0 })).rejects.toBe(bug)
    const refused = { ...evaluates, advice: () => Promise.reject(new AppError('unavailable', 'full')) }
    const { warnings } = await limited.static(refused, snapshot, keys, INPUT, { nowMs: 0 })
    expect(warnings).toMatchObject([{ text: 'could not be evaluated: full' }])
  })
})
