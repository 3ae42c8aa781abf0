import { shorten } from './describe-refusal.js'

const MAX_REMARKS = 10
/** Before a remark is looked at character by character. */
const MAX_REMARK_UNITS = 2000

/**
 * What a source says of its answer, each remark one line of at most 300 characters and no more than ten of them: it may say as much as fits into
 * its answer, and all of it would be kept with each look. A last one says how many were left out.
 */
export function boundedRemarks(remarks: Iterable<string>, most = MAX_REMARKS): string[] {
  const kept: string[] = []
  let omitted = 0
  for (const remark of remarks) {
    if (kept.length < most) kept.push(shorten(remark.slice(0, MAX_REMARK_UNITS)))
    else omitted += 1
  }
  return omitted === 0 ? kept : [...kept, `and ${omitted} more of the kind, left out`]
}
