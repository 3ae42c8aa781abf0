/**
 * Returns an own member of an object by an untrusted name. Undefined for inherited names such as
 * `constructor`.
 */
export function ownMember<T>(of: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(of, name) ? of[name] : undefined
}
