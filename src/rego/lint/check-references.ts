import { basename } from 'node:path'

import type { ErrorDetail } from '../../errors/app-error.js'
import { nearestName } from '../../lib/text/nearest-name.js'
import type { LeftOutFiles } from '../compile/collect-sources.js'
import type { DefinedDocuments } from './defined-documents.js'
import type { DescribedModule, Reference } from './describe-module.js'
import { positionIn } from '../modules/tokens/read-tokens.js'

/** Number of files that a finding names. */
const MAX_FILES = 3

/**
 * Returns references of a module to `data` that neither rules nor base documents define, in file
 * order. The message names files of `unread` that OPA would load there.
 */
export function checkReferences(
  module: DescribedModule,
  defined: DefinedDocuments,
  unread: LeftOutFiles['data'] = [],
): ErrorDetail[] {
  const { imports, reads } = module
  const missingImports = imports.filter(({ path }) => !defined.find(path).isDefined)
  // References below an undefined import are reported with the import.
  const isReported = ({ path }: Reference): boolean =>
    missingImports.some((reference) => startsWith(path, reference.path))
  const missing = reads.filter(
    (reference) => !isReported(reference) && !defined.find(reference.path).isDefined && !reference.hasDefault,
  )
  return [...missingImports, ...missing]
    .sort((a, b) => a.offset - b.offset)
    .map((reference) => describe(module, reference, { defined, unread }))
}

function describe(
  { module, text }: DescribedModule,
  { path, offset }: Reference,
  { defined, unread }: { defined: DefinedDocuments; unread: LeftOutFiles['data'] },
): ErrorDetail {
  const { known, names } = defined.find(path)
  const near = nearestName(String(path[known] ?? ''), names())
  const hint = near === undefined ? '' : `; did you mean ${printPath([...path.slice(0, known), near])}?`
  const files = unread.filter(({ at }) => startsWith(path, at)).map(({ file }) => basename(file))
  const more = files.length > MAX_FILES ? ' and others' : ''
  const unreadHint =
    files.length === 0 || near !== undefined
      ? ''
      : `; not read: ${files.slice(0, MAX_FILES).join(', ')}${more}, since data is in files named data.json, data.yaml or data.yml`
  return {
    code: 'undefined_data',
    message: `${printPath(path)} is defined by neither rules nor data, so that what reads it is undefined${hint}${unreadHint}`,
    location: { file: module.file, ...positionIn(text, offset) },
  }
}

function startsWith(path: Reference['path'], start: Reference['path']): boolean {
  return start.every((segment, index) => path[index] === segment)
}

/** A path as Rego writes it. */
function printPath(path: Reference['path']): string {
  const members = path.map((segment) =>
    typeof segment === 'string' && /^[A-Za-z_]\w*$/.test(segment)
      ? `.${segment}`
      : `[${JSON.stringify(segment)}]`,
  )
  return `data${members.join('')}`
}
