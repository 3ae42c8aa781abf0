import { randomBytes } from 'node:crypto'

/** Accepted request ids. Other characters could forge log lines. */
const WELL_FORMED = /^[\w.:-]{1,128}$/

/**
 * Returns a function that keeps a client's well-formed request id or generates one that is unique
 * to this process.
 */
export function makeRequestIds(): (claimed: string | undefined) => string {
  const prefix = randomBytes(6).toString('base64url')
  let count = 0
  return (claimed) => {
    if (claimed !== undefined && WELL_FORMED.test(claimed)) return claimed
    count += 1
    return `${prefix}-${count.toString(36)}`
  }
}
