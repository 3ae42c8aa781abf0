/** In which styles a text can be written so that it reads back the same. */
export interface ScalarAnalysis {
  readonly plain: boolean
  readonly singleQuoted: boolean
  readonly literal: boolean
}

const INDICATORS_AT_START = new Set('#,[]{}&*!|>\'"%@`')
/** What libyaml writes as it is: no tab, no U+0085, nothing beyond the basic plane. */
const UNPRINTABLE = /[^\n\x20-\x7e\u00a0-\ud7ff\ue000-\ufefe\uff00-\ufffd]/u
const BREAK = /[\r\n\u0085\u2028\u2029]/

/** libyaml's analysis of a scalar in block context. */
export function analyseScalar(text: string): ScalarAnalysis {
  const hasBreak = BREAK.test(text)
  const isSpecial = UNPRINTABLE.test(text) || / [\r\n\u0085\u2028\u2029]/.test(text)
  const hasOuterSpace = /^[ \r\n\u0085\u2028\u2029]|[ \r\n\u0085\u2028\u2029]$/.test(text)
  const hasSpaceAfterBreak = /[\r\n\u0085\u2028\u2029] /.test(text)
  return {
    plain: !isSpecial && !hasBreak && !hasOuterSpace && !hasIndicator(text),
    singleQuoted: !isSpecial && !hasSpaceAfterBreak,
    literal: !isSpecial && !text.endsWith(' '),
  }
}

/** Whether some sign of the text would be read as YAML syntax. */
function hasIndicator(text: string): boolean {
  if (text.startsWith('---') || text.startsWith('...')) return true
  if (INDICATORS_AT_START.has(text.charAt(0))) return true
  if (/^[?:-](?:\s|$)/.test(text)) return true
  return /:(?:\s|$)|\s#/.test(text)
}
