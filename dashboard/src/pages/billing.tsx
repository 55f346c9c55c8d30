export function BillingPage() {
  return <h1>Billing</h1>
}
