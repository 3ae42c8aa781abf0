import type { ErrorDetail } from '../../errors/app-error.js'
import { editDistance } from '../../lib/text/nearest-name.js'
import type { RegoModule } from '../modules/rego-module.js'
import { positionIn } from '../modules/tokens/read-tokens.js'
import { describeModule } from './describe-module.js'

/** A first word and the rest of the name: `tets_a`, `Test_a`, `testA`. */
const PARTS = /^(?<word>[A-Za-z][a-z]*)_?(?<rest>\w+)$/
/** Different words, not misspellings. */
const WORDS: ReadonlySet<string> = new Set(
  'best fest jest lest nest pest rest tent text vest west zest'.split(' '),
)

/**
 * Returns the rules of test files that no other rule uses and that `opa test` skips, because their
 * names do not begin with `test_`.
 */
export function findMisnamedTests(modules: readonly RegoModule[]): ErrorDetail[] {
  const described = modules.map(describeModule)
  const used = new Set(described.flatMap(({ heads }) => heads.flatMap(({ uses }) => [...uses])))
  return described.flatMap(({ module, text, heads }) => {
    if (!module.file.endsWith('_test.rego')) return []
    const functions = new Set(module.rules.flatMap(({ path, isFunction }) => (isFunction ? path[0] : [])))
    return heads.flatMap(({ name, offset }) => {
      const meant = meantTest(name)
      if (meant === undefined || used.has(name) || functions.has(name)) return []
      const message = `${name} is never run: the names of tests begin with test_; did you mean ${meant}?`
      return [
        { code: 'misnamed_test', message, location: { file: module.file, ...positionIn(text, offset) } },
      ]
    })
  })
}

function meantTest(name: string): string | undefined {
  const { word = '', rest = '' } = PARTS.exec(name)?.groups ?? {}
  if (name.startsWith('test_') || WORDS.has(word) || rest === '') return undefined
  return editDistance(word.toLowerCase(), 'test') <= 1 ? `test_${rest}` : undefined
}
