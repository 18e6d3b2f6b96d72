/** Self-signed certificate of localhost, for a server that a test starts. */
export const certificate = `-----BEGIN CERTIFICATE-----
MIIBZDCCAQugAwIBAgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlsb2NhbGhv
c3QwHhcNMjQwMTAxMDAwMDAwWhcNNDYxMjMxMDAwMDAwWjAUMRIwEAYDVQQDDAls
b2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQZggdNDdKQmLBFEaQK
htnYQjlOu+54lbk382FBjO7YyK5sUrZVfT6yGMHfGAe+93bed5F4fZed7tqbuBu/
SNrFo04wTDAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwDwYDVR0TAQH/BAUw
AwEB/zAdBgNVHQ4EFgQUh413n0XBnAiL09JhNy/4iGMqqEcwCgYIKoZIzj0EAwID
RwAwRAIgUvGKCzRd7uXiKZzRQ+maRO2NnAeEH548X0vIUpa+CJsCIG6gKJWa8nsJ
LGvoqgnT9lz0EdNB8Zb3UvHABnrroYil
-----END CERTIFICATE-----
`;

/** Key of `certificate`. Not a secret, because it is published here. */
export const privateKey = `-----BEGIN EC PRIVATE KEY-----
MHcCAQEEIK6UVap5GVxypc0vOg+XazXqs3dT2N53MRV9IgSKTc/HoAoGCCqGSM49
AwEHoUQDQgAEGYIHTQ3SkJiwRRGkCobZ2EI5TrvueJW5N/NhQYzu2MiubFK2VX0+
shjB3xgHvvd23neReH2Xne7am7gbv0jaxQ==
-----END EC PRIVATE KEY-----
`;
