import { parse } from 'yaml'

import { parseRegoText } from './parse-text.js'
import type { RegoValue } from './value.js'

/** The value of a YAML document. */
export function parseYaml(text: string): RegoValue {
  return parseRegoText(JSON.stringify(parse(text)))
}
