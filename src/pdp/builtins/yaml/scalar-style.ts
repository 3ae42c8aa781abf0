import { analyseScalar } from './analyse-scalar.js'
import { readPlainScalar } from './plain-scalar.js'

export type ScalarStyle = 'plain' | 'single' | 'double' | 'literal'

const BASE_60 = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/

/** The style that Go yaml gives a string: plain when it reads back as the same string, literal for several lines. */
export function chooseStyle(text: string, isSimpleKey: boolean): ScalarStyle {
  const analysis = analyseScalar(text)
  if (text.includes('\n')) return analysis.literal && !isSimpleKey ? 'literal' : 'double'
  // A string that spells a merge key stays plain, as in Go.
  if (!/^(?:text|merge)$/.test(readPlainScalar(text).kind) || BASE_60.test(text)) return 'double'
  if (analysis.plain) return 'plain'
  return analysis.singleQuoted ? 'single' : 'double'
}
