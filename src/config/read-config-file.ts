import { isUtf8 } from 'node:buffer'
import { readFileSync } from 'node:fs'

import { LineCounter, isMap, isNode, parseDocument } from 'yaml'
import type { Document, YAMLMap } from 'yaml'

import { AppError, toError } from '../errors/app-error.js'
import type { OriginatedValue } from './values/layered-values.js'

/**
 * The values in a configuration file with the lines that they are on; `.json` is read as JSON, the rest as YAML.
 * Raises `invalid` with every syntax error when it cannot be read.
 */
export function readConfigFile(file: string): OriginatedValue[] {
  const text = readText(file)
  const lines = new LineCounter()
  if (file.endsWith('.json')) refuseMalformedJson(file, text)
  const document = parseDocument(text, { lineCounter: lines })
  refuseMalformedYaml(file, document)
  const root = document.contents
  if (root === null) return []
  if (!isMap(root)) throw new AppError('invalid', `${file}: the configuration must be an object of sections`)
  const originAt = (node: unknown): string => `${file}:${lines.linePos(startOf(node)).line}`
  try {
    return listValues(root, [], { document, originAt })
  } catch (raw) {
    // Of aliases of aliases, which may stand for any number of values.
    throw new AppError('invalid', `read configuration: ${file}: ${toError(raw).message}`, { cause: raw })
  }
}

function readText(file: string): string {
  let bytes: Buffer
  try {
    bytes = readFileSync(file)
  } catch (raw) {
    throw new AppError('invalid', `read configuration: ${toError(raw).message}`, { cause: raw })
  }
  if (isUtf8(bytes) && !bytes.includes(0)) return bytes.toString('utf8')
  throw new AppError('invalid', `read configuration: ${file} is no text in UTF-8: save it as such`)
}

function refuseMalformedJson(file: string, text: string): void {
  try {
    JSON.parse(text)
  } catch (raw) {
    throw new AppError('invalid', `read configuration: ${file}: ${toError(raw).message}`, { cause: raw })
  }
}

function refuseMalformedYaml(file: string, document: Document.Parsed): void {
  if (document.errors.length === 0) return
  const details = document.errors.map(({ message, linePos }) => ({
    code: 'malformed_yaml',
    message: (message.split('\n')[0] ?? message)
      .replace(/ at line \d+, column \d+:?$/, '')
      .replace(/; please use YAML\.\w+\(\)$/, ', of which a configuration is one'),
    ...(linePos === undefined ? {} : { location: { file, row: linePos[0].line, col: linePos[0].col } }),
  }))
  throw new AppError('invalid', `read configuration: ${file} is not well-formed`, { details })
}

interface Reading {
  readonly document: Document
  readonly originAt: (node: unknown) => string
}

/** Objects are taken apart, so that each member knows its line and later layers replace single keys. */
function listValues(map: YAMLMap, path: readonly string[], reading: Reading): OriginatedValue[] {
  return map.items.flatMap(({ key, value }) => {
    const inner = [...path, String(key)]
    if (isMap(value) && value.items.length > 0) return listValues(value, inner, reading)
    return [{ path: inner, value: toJson(value, reading.document), origin: reading.originAt(key) }]
  })
}

function startOf(node: unknown): number {
  return isNode(node) ? (node.range?.[0] ?? 0) : 0
}

function toJson(node: unknown, document: Document): unknown {
  return isNode(node) ? (node.toJS(document) as unknown) : undefined
}
