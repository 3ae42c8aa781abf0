const COLON = 0x3a
const LONGEST_GROUP = 4

/** A hardware address (EUI-48 to EUI-64 with colons). */
const HARDWARE = /[0-9a-f]{2}(?::[0-9a-f]{2}){5,7}(?![\w:])/iy
/** RFC 4291 section 2.2: eight groups, or fewer around one `::`, perhaps with an IPv4 address at the end. */
const IPV6 =
  /(?:(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}|(?:[0-9a-f]{1,4}(?::[0-9a-f]{1,4}){0,6})?::(?:[0-9a-f]{1,4}:){0,6}(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f]{1,4})?)(?:[%/]\w+)?(?![\w:])/iy

/**
 * The end of an address of groups with colons that begins at `start`, where the first group ends at `end`; `end` when
 * there is none. Its groups of letters alone would be words otherwise.
 */
export function addressEnd(text: string, start: number, end: number): number {
  if (text.charCodeAt(end) !== COLON || end - start > LONGEST_GROUP) return end
  if (start === end && (text.charCodeAt(end + 1) !== COLON || isWithinName(text, start))) return end
  for (const pattern of [HARDWARE, IPV6]) {
    pattern.lastIndex = start
    const found = pattern.exec(text)?.[0]
    if (found !== undefined && /\d|::.*:/.test(found)) return start + found.length
  }
  return end
}

/** `::` far more often joins names than it begins an address: `Reader::open`. */
function isWithinName(text: string, at: number): boolean {
  return at > 0 && /[\w>)]/.test(text.charAt(at - 1))
}
