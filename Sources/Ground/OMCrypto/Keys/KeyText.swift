public import OMSecrets

/// The text around a key's DER.
public enum KeyText {
    /// `ENCRYPTED PRIVATE KEY`.
    public static func pem(encryptedPKCS8 der: borrowing SecretBytes) -> SecretBytes {
        PEMBlock.write(der, label: "ENCRYPTED PRIVATE KEY")
    }

    /// `PRIVATE KEY`.
    public static func pem(unencryptedPKCS8 der: borrowing SecretBytes) -> SecretBytes {
        PEMBlock.write(der, label: "PRIVATE KEY")
    }

    /// `RSA PRIVATE KEY`.
    public static func pem(unencryptedPKCS1 der: borrowing SecretBytes) -> SecretBytes {
        PEMBlock.write(der, label: "RSA PRIVATE KEY")
    }

    /// `EC PRIVATE KEY`.
    public static func pem(unencryptedSEC1 der: borrowing SecretBytes) -> SecretBytes {
        PEMBlock.write(der, label: "EC PRIVATE KEY")
    }

    /// `RSA PUBLIC KEY`.
    public static func pem(pkcs1 der: [UInt8]) -> String {
        PEMBlock.write(SecretBytes(copying: der), label: "RSA PUBLIC KEY").withBytes { $0.text($0.indices) }
    }

    /// `PUBLIC KEY`.
    public static func pem(spki der: [UInt8]) -> String {
        PEMBlock.write(SecretBytes(copying: der), label: "PUBLIC KEY").withBytes { $0.text($0.indices) }
    }

    /// `CERTIFICATE REQUEST`.
    public static func pem(certificationRequest der: [UInt8]) -> String {
        PEMBlock.write(SecretBytes(copying: der), label: "CERTIFICATE REQUEST").withBytes { $0.text($0.indices) }
    }

    /// `CERTIFICATE`.
    public static func pem(certificate der: [UInt8]) -> String {
        PEMBlock.write(SecretBytes(copying: der), label: "CERTIFICATE").withBytes { $0.text($0.indices) }
    }
}
