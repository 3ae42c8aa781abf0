import { basename } from 'node:path'

import type { ErrorDetail } from '../../errors/app-error.js'
import type { RegoFile } from '../modules/rego-module.js'
import { verdictPlace } from '../values/verdict-rules.js'
import { AskedPackages } from './asked-packages.js'
import { describeModule } from './describe-module.js'
import { outlineModule } from '../modules/outline-module.js'
import { positionIn } from '../modules/tokens/read-tokens.js'

/**
 * Returns verdicts in files that are not served, in evaluated packages: a policy named
 * `stress_test.rego` is excluded as a test, and a hidden file is ignored. Tests may have helper
 * rules of such names in packages of their own.
 */
export function checkLeftOut(files: readonly RegoFile[], staticPatterns: readonly string[]): ErrorDetail[] {
  const asked = new AskedPackages(staticPatterns)
  return files.flatMap((file) => findVerdict(file, asked) ?? [])
}

function findVerdict(file: RegoFile, asked: AskedPackages): ErrorDetail | undefined {
  const module = outlineModule(file)
  if (module === undefined || asked.callerKindOf(module.packagePath) === 'nobody') return undefined
  const { packagePath, rules } = module
  const verdict = rules.find(({ path, isFunction }) => !isFunction && verdictPlace(path) !== undefined)
  if (verdict === undefined) return undefined
  const isHidden = basename(file.file).startsWith('.')
  const hasTests = rules.some(({ path: [name = ''] }) => /^(?:todo_)?test_/.test(name))
  if (!isHidden && hasTests && packagePath.at(-1)?.endsWith('_test')) return undefined
  const { text, heads } = describeModule(module)
  const offset = heads.find(({ name }) => name === verdict.path[0])?.offset ?? 0
  const why = isHidden ? 'hidden files are left out' : 'files named *_test.rego hold tests and are left out'
  return {
    code: 'unserved_verdict',
    message: `${verdict.path.join('.')} in package ${packagePath.join('.')} is never asked for: ${why}; rename the file if it is a policy`,
    location: { file: file.file, ...positionIn(text, offset) },
  }
}
