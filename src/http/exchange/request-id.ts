import { randomBytes } from 'node:crypto'

/** What a request id from outside may look like; anything else could forge log lines. */
const WELL_FORMED = /^[\w.:-]{1,128}$/

/** Gives each request an id: the caller's own when it is well formed, else one unique to this process. */
export function makeRequestIds(): (claimed: string | undefined) => string {
  const prefix = randomBytes(6).toString('base64url')
  let count = 0
  return (claimed) => {
    if (claimed !== undefined && WELL_FORMED.test(claimed)) return claimed
    count += 1
    return `${prefix}-${count.toString(36)}`
  }
}
