import { COUNT, MEMBERS, NEXT_MEMBER } from '../module/value-layout.js'

/**
 * Calls `visit` with the address of each member of an object, in the order of its hash table.
 * `wordAt` reads the word at an address.
 */
export function visitMembers(
  object: number,
  wordAt: (address: number) => number,
  visit: (member: number) => void,
): void {
  const table = wordAt(object + MEMBERS)
  const end = table + wordAt(object + COUNT) * 4
  for (let bucket = table; bucket < end; bucket += 4)
    for (let member = wordAt(bucket); member !== 0; member = wordAt(member + NEXT_MEMBER)) visit(member)
}
