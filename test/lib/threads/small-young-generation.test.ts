import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import ts from 'typescript'
import { expect, test } from 'vitest'

import { PROJECT_ROOT } from '../../support/project-root.js'
import { makeWorkspace } from '../../support/workspace.js'

const MIB = 1024 * 1024
const TESTED = join(PROJECT_ROOT, 'src/lib/threads')

/** Keeps a hundred thousand objects, and prints the size of the space for new ones. */
const GROWS_AT_ONCE = `
  import { getHeapSpaceStatistics } from 'node:v8'
  import { letYoungGenerationGrowAtOnce } from './small-young-generation.js'
  letYoungGenerationGrowAtOnce()
  const kept = []
  for (let i = 0; i < 100000; i++) kept.push({ i })
  console.log(getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size)`

/** Starts a thread, keeps half a million objects then, and prints the size of its own space for new ones. */
const KEEPS_MUCH = `
  import { once } from 'node:events'
  import { getHeapSpaceStatistics } from 'node:v8'
  import { startThread } from './start-thread.js'
  import { keepYoungGenerationSmall } from './small-young-generation.js'
  keepYoungGenerationSmall()
  await once(startThread('', { eval: true }), 'exit')
  const kept = []
  for (let i = 0; i < 500000; i++) kept.push({ i })
  console.log(getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size)`

/** In a process of its own: others of the tests' start threads, too. */
function newSpaceOf(script: string): number {
  const options = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ES2022 }
  const tested = ['small-young-generation', 'start-thread', 'v8-flags'].map((name) => {
    const text = readFileSync(join(TESTED, `${name}.ts`), 'utf8')
    return [`${name}.js`, ts.transpileModule(text, { compilerOptions: options }).outputText] as const
  })
  const workspace = makeWorkspace({
    ...Object.fromEntries(tested),
    'package.json': '{"type":"module"}',
    'main.mjs': script,
  })
  const bytes = Number(execFileSync(process.execPath, [join(workspace.path, 'main.mjs')]))
  workspace.remove()
  return bytes
}

test('the space for new objects stays small though V8 lets that of all threads grow again whenever one starts', () => {
  expect(newSpaceOf(KEEPS_MUCH)).toBeLessThan(8 * MIB)
})

test('of a command it grows to its full size when it grows for the first time', () => {
  expect(newSpaceOf(GROWS_AT_ONCE)).toBeGreaterThan(8 * MIB)
})
