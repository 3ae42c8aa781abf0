import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { AppError } from '../../../src/errors/app-error.js'
import { inTemporaryDirectory } from '../../../src/lib/temporary-directory.js'
import { MODULE_FILE } from '../../../src/rego/archive/manifest.js'
import { unpackOne } from '../../../src/rego/archive/pack-files.js'
import { hostBuiltins } from '../../../src/rego/builtins/index.js'
import type { BuildModule } from '../../../src/rego/compile/build-module.js'
import { evaluateDocument, planDocument } from '../../../src/rego/evaluation/evaluate-document.js'
import { newCall } from '../../../src/rego/evaluation/new-call.js'
import { loadSnapshot } from '../../../src/rego/loading/load-snapshot.js'
import { BUNDLE_FILE, bundleFiles, stagedName, writeBundle } from '../../../src/rego/modules/stage-bundle.js'
import { findOpa } from '../../../src/rego/opa/find-opa.js'
import { runOpa } from '../../../src/rego/opa/run-opa.js'
import { pathOfKey } from '../../../src/rego/values/path-key.js'
import { RegoObject } from '../../../src/rego/values/value.js'
import { DEFAULT_LIMITS } from '../../support/default-limits.js'

/** Compiles modules as they are written, without any workaround. */
const buildAsWritten: BuildModule = async (opa, modules, keys) =>
  await inTemporaryDirectory(async (cwd) => {
    await writeBundle(cwd, bundleFiles(modules, new RegoObject([]), stagedName, ''))
    const named = [...keys.keys()].filter((key) => key !== '')
    const paths = new Map(named.map((key) => [pathOfKey(key).join('/'), key]))
    const entrypoints = [...paths.keys()].flatMap((name) => ['--entrypoint', name])
    const args = ['build', '--target', 'wasm', '--bundle', BUNDLE_FILE, '--output', 'built.tar.gz']
    const run = await runOpa(opa, [...args, ...entrypoints], { cwd })
    if (run.exitCode !== 0) throw new AppError('invalid', run.stderr)
    const wasm = await unpackOne(await readFile(join(cwd, 'built.tar.gz')), MODULE_FILE)
    if (wasm === undefined) throw new AppError('invalid', 'opa built no module')
    return { wasm, paths }
  })

interface Answers {
  readonly evaluated: unknown
  readonly compiled: unknown
}

/**
 * Answers `data.q.answer` with OPA's evaluator, and with the code that OPA compiles; `invalid` for
 * code that does not load.
 */
async function answerAsWritten(files: Readonly<Record<string, string>>, input: unknown): Promise<Answers> {
  return await inTemporaryDirectory(async (directory) => {
    for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text)
    const opa = await findOpa({ env: process.env })
    const args = ['eval', '--format', 'json', '--data', '.', '--stdin-input', 'data.q.answer']
    const { stdout } = await runOpa(opa, args, { cwd: directory, stdin: JSON.stringify(input) })
    const { result } = JSON.parse(stdout) as { result?: { expressions: { value: unknown }[] }[] }
    const options = {
      findOpa: () => Promise.resolve(opa),
      builtins: hostBuiltins,
      limits: DEFAULT_LIMITS,
      buildModule: buildAsWritten,
    }
    const loading = loadSnapshot({ directories: [directory], bundles: [] }, options)
    const compiled = await loading.then(
      (snapshot) => {
        const plan = planDocument(snapshot, ['q', 'answer'])
        const text = evaluateDocument(plan, Buffer.from(JSON.stringify(input)), newCall())
        return text === undefined ? undefined : (JSON.parse(text) as unknown)
      },
      (raw: unknown) => (raw instanceof AppError ? raw.kind : 'other'),
    )
    return { evaluated: result?.[0]?.expressions[0]?.value, compiled }
  })
}

const q = (...rules: readonly string[]): string => `package q\n\nimport rego.v1\n\n${rules.join('\n\n')}\n`
const app = (name: string, rules: string): string => `package apps.${name}\n\nimport rego.v1\n\n${rules}\n`

describe('OPA compiles to other results than those of its evaluator, so a workaround is still needed', () => {
  test.each([
    [
      'modifier-order',
      {
        'q.rego': q(
          'f(x) := [x, time.now_ns(), data.d.n]',
          'answer := x if x := f(1) with time.now_ns as 5 with data.d.n as 7',
        ),
        'data.json': '{"d": {"n": 1}}',
      },
      {},
    ],
    [
      'skipped-rules',
      {
        'shop.rego': app('shop', 'lim.prod := 1'),
        'cart.rego': app('cart', 'lim[k] := v if some k, v in {"prod": 2}'),
        'q.rego': q('answer := data.apps[input.app].lim[input.env]'),
      },
      { app: 'shop', env: 'prod' },
    ],
    [
      'skipped-rules: functions',
      {
        'shop.rego': app('shop', 'f(x) := x\n\nv := 1'),
        'q.rego': q('answer contains x if x := data.apps.shop[_]'),
      },
      {},
    ],
    [
      'negated-lookups',
      {
        'shop.rego': app('shop', 'v := 1'),
        'cart.rego': app('cart', 'v := 2'),
        'q.rego': q('answer if not data.apps[input.app].v == 2'),
      },
      { app: 'shop' },
    ],
    ['merged-rules', { 'q.rego': q('default answer.x := 9', 'answer[1] := 2') }, {}],
    ['plan/unassigned-variables', { 'q.rego': q('answer if { [x, y] = [y, 5]; x == 5 }') }, {}],
  ])('%s', async (_, files, input) => {
    const { evaluated, compiled } = await answerAsWritten(files, input)
    expect(evaluated).toBeDefined()
    expect(compiled).not.toEqual(evaluated)
  })

  test('numbers-without-integer-part', async () => {
    const opa = await findOpa({ env: process.env })
    const { exitCode, stdout, stderr } = await runOpa(opa, ['eval', '--format', 'raw', '[x | x := .5]'])
    expect([exitCode, stdout + stderr]).not.toEqual([0, '[0.5]\n'])
  })
})
