/** Whether a host, in lower case and without the brackets of IPv6, is one of a list: a name, an address, or `*.example.org` for all names below one. */
export function isListedHost(host: string, list: readonly string[]): boolean {
  return list.some((entry) => {
    const listed = entry.toLowerCase()
    return listed.startsWith('*.') ? host.endsWith(listed.slice(1)) : host === listed
  })
}
