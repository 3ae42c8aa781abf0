import { z } from 'zod'

import { isRecord } from '../../../lib/validation/record.js'
import type { ParameterReader } from './parameter-reader.js'
import type { Lookup, Tool } from './tool.js'

const PLACEHOLDER = /\{([A-Za-z0-9_.-]+)\}/g
const VALUE = {
  // Dots are not encoded, so a value of dots would change the path.
  pattern: /^(?!\.{1,2}$)[^\p{Cc}]{1,1000}$/u,
  words: 'a text of at most 1000 characters that is not . or .., or several',
}

type Values = ReadonlyMap<string, readonly string[]>

/**
 * Any service that answers GET with JSON. The URL is a template such as
 * `https://scan.example.org/images/{imageId}`. A parameter with several values makes a request for
 * each. Elements of a returned array are separate evidence.
 */
export const http: Tool = {
  connectorTypes: ['HTTP'],
  lookups: (parameters, template) => {
    const names = [...new Set([...template.matchAll(PLACEHOLDER)].map(([, name = '']) => name))]
    const values = new Map(names.map((name) => [name, parameters.wholeList(name, VALUE)]))
    return rowsOf(values, parameters).map((row) => lookupOf(template, row))
  },
}

/** Values of each request. Several parameters with several values are combined by position. */
function rowsOf(values: Values, parameters: ParameterReader): readonly Map<string, string>[] {
  const lengths = [...values.values()].map(({ length }) => length)
  const count = Math.max(1, ...lengths)
  if (lengths.some((length) => length > 1 && length !== count)) parameters.unequal(...values.keys())
  return Array.from({ length: count }, (_, index) => {
    const entries = [...values].map(
      ([name, all]) => [name, (all.length === 1 ? all[0] : all[index]) ?? ''] as const,
    )
    return new Map(entries)
  })
}

function lookupOf(template: string, row: ReadonlyMap<string, string>): Lookup {
  return {
    subject: row.size === 0 ? 'the answer' : [...row.values()].join(' '),
    fetch: async (read) => {
      const url = template.replace(PLACEHOLDER, (_, name: string) => encodeURIComponent(row.get(name) ?? ''))
      const answer = await read(z.unknown(), url)
      return Array.isArray(answer) ? answer.map(toItem) : [toItem(answer)]
    },
  }
}

/** Wraps a value, since output consists of objects. */
function toItem(value: unknown): object {
  return isRecord(value) ? value : { value }
}
