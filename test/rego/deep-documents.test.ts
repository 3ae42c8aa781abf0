import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'

import { inTemporaryDirectory } from '../../src/lib/temporary-directory.js'
import { hostBuiltins } from '../../src/rego/builtins/index.js'
import { evaluateDocument, planDocument } from '../../src/rego/evaluation/evaluate-document.js'
import { loadSnapshot } from '../../src/rego/loading/load-snapshot.js'
import { newCall } from '../../src/rego/evaluation/new-call.js'
import { findOpa } from '../../src/rego/opa/find-opa.js'
import { DEFAULT_LIMITS } from '../support/default-limits.js'

const DEPTH = 10_000

test('an answer or an operand nested 10,000 levels deep is a typed error or an answer, never a crash', async () => {
  const snapshot = await inTemporaryDirectory(async (directory) => {
    const policy = 'package p\n\nsame = input.x\nencoded = yaml.marshal(input.x)\n'
    await writeFile(join(directory, 'p.rego'), policy)
    const options = {
      findOpa: () => findOpa({ env: process.env }),
      builtins: hostBuiltins,
      limits: DEFAULT_LIMITS,
    }
    return await loadSnapshot({ directories: [directory], bundles: [] }, options)
  })
  const input = Buffer.from(`{"x":${'['.repeat(DEPTH)}${']'.repeat(DEPTH)}}`)
  for (const rule of ['same', 'encoded']) {
    const ask = (): unknown => evaluateDocument(planDocument(snapshot, ['p', rule]), input, newCall())
    expect(outcome(ask)).toMatch(/^(?:answered|evaluation_budget_exceeded)$/)
  }
})

function outcome(ask: () => unknown): string {
  try {
    ask()
    return 'answered'
  } catch (raw) {
    return (raw as { code: string }).code
  }
}
