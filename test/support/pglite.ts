export async function createPglite(t: unknown): Promise<any> { throw new Error('later') }
