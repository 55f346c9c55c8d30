/**
 * Returns the host of a location (Vertex AI, "Claude on Vertex AI": regional, multi-region and global endpoints): one for
 * the world, one for each of two continents, and one for each region.
 */
export function addressOf(location: string): string {
  if (location === 'global') return 'https://aiplatform.googleapis.com'
  if (location === 'us' || location === 'eu') return `https://aiplatform.${location}.rep.googleapis.com`
  return `https://${location}-aiplatform.googleapis.com`
}
